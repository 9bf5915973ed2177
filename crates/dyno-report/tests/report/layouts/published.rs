//! Metrics of published tables, printed again: the lines are the same, character by character.

use crate::layouts::runs::print;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::Load;
use dyno_model::summary::{
    Distribution, Intervals95, LoadSummary, RequestCounts, Throughput, Tokens,
};
use dyno_model::summary::{Extras, LevelExtras};
use dyno_model::{LevelSummary, Summary, Verdict};
use dyno_report::layout::{Layout, RunToPrint};
use dyno_testing::runs::*;

/// A level without any metric.
fn blank(kind: LoadKind, value: f64) -> LevelSummary {
    let plan = plan(vec![level_plan("x", Load::Burst { requests: 1 }, None)]);
    let mut level = summary_of(&plan, vec![stream(0, 0, 0, 100, 20, 5)]).levels.remove(0);
    level.label = format!("{kind} {value}");
    level.load = LoadSummary { kind, value: Some(value) };
    level.verdict = Verdict::Valid;
    (level.duration_s, level.steady, level.concurrency) = (None, None, None);
    level.throughput = Throughput::default();
    level.requests = RequestCounts::default();
    for (_, figure) in level.times.iter_mut() {
        *figure = None;
    }
    (level.input_tokens, level.output_tokens) = (None, None);
    level
}

fn run(levels: Vec<LevelSummary>, extras: Vec<LevelExtras>) -> RunToPrint {
    let plan = plan(vec![level_plan("x", Load::Burst { requests: 1 }, None)]);
    let summary = summary_of(&plan, vec![stream(0, 0, 0, 100, 20, 5)]);
    let levels = (0..).zip(levels).map(|(index, level)| LevelSummary { index, ..level }).collect();
    let summary = Summary { levels, notes: vec![], repeats: vec![], search: None, ..summary };
    RunToPrint {
        summary,
        extras: Extras((0..).zip(extras).collect()),
        detail: None,
        plan: None,
        environment: None,
    }
}

fn distribution(mean: f64, p50: Option<f64>, p99: Option<f64>) -> Distribution {
    Distribution {
        count: Some(1),
        mean: Some(mean),
        std: None,
        min: Some(mean),
        p50,
        p66: None,
        p75: None,
        p80: None,
        p90: None,
        p95: None,
        p98: None,
        p99,
        p99_9: None,
        max: Some(mean),
        ci95: Intervals95::default(),
        instrument: None,
        marked: vec![],
        uncertain: vec![],
    }
}

fn mean_of(mean: f64) -> Option<Distribution> {
    Some(distribution(mean, None, None))
}

/// The numbers of a line, in order.
fn numbers(line: &str) -> Vec<f64> {
    let pieces = line.split(|c: char| !c.is_ascii_digit() && c != '.');
    pieces.filter_map(|piece| piece.parse().ok()).collect()
}

const GUIDELLM: &str = "\
| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |
| :---: | :---: | :---: | :---: | :---: | :---: |
| synchronous | 0.86 req/sec | 1.16 sec | 59.17 ms | 9.16 ms | 103.54 tokens/sec |
| asynchronous@3.17 req/sec | 3.11 req/sec | 2.62 sec | 82.49 ms | 21.32 ms | 370.10 tokens/sec |
| asynchronous@12.40 req/sec | 11.62 req/sec | 7.76 sec | 171.59 ms | 64.12 ms | 1374.91 tokens/sec |
| asynchronous@19.33 req/sec | 16.60 req/sec | 15.04 sec | 1958.73 ms | 111.07 ms | 1955.18 tokens/sec |
| throughput | 21.64 req/sec | 12.96 sec | 2789.95 ms | 85.59 ms | 2562.78 tokens/sec |
";

#[test]
fn a_rate_sweep_of_guidellm() {
    let levels = GUIDELLM.lines().skip(2).map(|line| {
        let mut found = numbers(line);
        let mut level = match line {
            _ if line.contains("synchronous |") => blank(LoadKind::Concurrency, 1.0),
            _ if line.contains("throughput |") => blank(LoadKind::Concurrency, 512.0),
            _ => blank(LoadKind::Rate, found.remove(0)),
        };
        level.throughput.requests_per_s = Some(found[0]);
        level.times[Time::Latency] = mean_of(found[1] * 1e3);
        level.times[Time::Ttft] = mean_of(found[2]);
        level.times[Time::ChunkGap] = mean_of(found[3]);
        level.throughput.output_tokens_per_s = Some(found[4]);
        level
    });
    let run = run(levels.collect(), vec![]);
    assert_eq!(print(Layout::Guidellm, &[run], Language::English), GUIDELLM);
}

const PIVOT: &str = "\
| 指标 | 8 | 16 | 64 | 720 |
| --- | --- | --- | --- | --- |
| 用时 | 404.284 | 215.085 | 82.884 | 40.580 |
| QPS | 2.474 | 4.649 | 12.065 | 24.643 |
| 延迟 | 3.213 | 3.391 | 4.974 | 18.790 |
| 吞吐量 | 594.929 | 1119.102 | 2903.023 | 5940.622 |
| p50 | 3.2461 | 3.4271 | 5.0248 | 20.4161 |
| p90 | 4.9771 | 5.2905 | 7.7522 | 26.8183 |
";

const WITH_FAILURES: &str = "\
| 指标 | 8 | 16 | 64 | 100 |
| --- | --- | --- | --- | --- |
| 用时 | 1030.632 | 629.843 | 280.896 | 252.708 |
| QPS | 0.970 | 1.588 | 3.503 | 3.593 |
| 延迟 | 8.213 | 9.944 | 16.913 | 19.182 |
| 吞吐量 | 298.860 | 496.458 | 1073.697 | 1039.610 |
| p50 | 8.4703 | 10.2975 | 17.5850 | 20.1962 |
| p90 | 11.8119 | 14.2264 | 23.7261 | 27.0515 |
| 失败 | 0 | 0 | 15 | 73 |
";

fn of_pivot(pivot: &str) -> Vec<LevelSummary> {
    let rows: Vec<Vec<f64>> = pivot
        .lines()
        .map(|line| line.split('|').skip(2).filter_map(|cell| cell.trim().parse().ok()).collect())
        .collect();
    let level = |i: usize| {
        let mut level = blank(LoadKind::Concurrency, rows[0][i]);
        level.duration_s = Some(rows[2][i]);
        level.throughput.requests_per_s = Some(rows[3][i]);
        level.throughput.output_tokens_per_s = Some(rows[5][i]);
        let latency = distribution(rows[4][i] * 1e3, Some(rows[6][i] * 1e3), None);
        level.times[Time::Latency] = Some(Distribution { p90: Some(rows[7][i] * 1e3), ..latency });
        level.requests.failed = Some(rows.get(8).map_or(0, |row| row[i] as u64));
        level
    };
    (0..rows[0].len()).map(level).collect()
}

#[test]
fn a_concurrency_sweep_of_evalscope() {
    for pivot in [PIVOT, WITH_FAILURES] {
        let text = print(Layout::Evalscope, &[run(of_pivot(pivot), vec![])], Language::Chinese);
        assert!(text.starts_with(&format!("{pivot}\n- parallel 8\n```\nBenchmarking")), "{text}");
    }
}

const BLOCK: &str = "
- parallel 8
```
Benchmarking summary: 
 Time taken for tests: 404.284 seconds
 Expected number of requests: 1000
 Number of concurrency: 8
 Total requests: 1000
 Succeed requests: 1000
 Failed requests: 0
 Average QPS: 2.474
 Average latency: 3.213
 Throughput(average output tokens per second): 594.929
 Average time to first token: 3.213
 Average input tokens per request: 40.296
 Average output tokens per request: 240.520
 Average time per output token: 0.00168
 Average package per request: 1.000
 Average package latency: 3.213
 Percentile of time to first token: 
     p50: 3.2461
     p66: 3.7587
     p75: 4.2213
     p80: 4.4208
     p90: 4.9771
     p95: 5.6460
     p98: 6.3678
     p99: 6.8545
 Percentile of request latency: 
     p50: 3.2461
     p66: 3.7587
     p75: 4.2213
     p80: 4.4208
     p90: 4.9771
     p95: 5.6460
     p98: 6.3678
     p99: 6.8545
```
";

#[test]
fn a_level_of_evalscope() {
    let mut level = of_pivot(PIVOT).remove(0);
    level.requests = RequestCounts {
        planned: Some(1000),
        completed: Some(1000),
        failed: Some(0),
        ..RequestCounts::default()
    };
    level.input_tokens = Some(Tokens { total: None, mean: 40.296 });
    level.output_tokens = Some(Tokens { total: None, mean: 240.520 });
    let latency = Distribution {
        p66: Some(3758.7),
        p75: Some(4221.3),
        p80: Some(4420.8),
        p95: Some(5646.0),
        p98: Some(6367.8),
        p99: Some(6854.5),
        count: Some(1000),
        ..level.times[Time::Latency].take().unwrap()
    };
    // Its table was not streamed: one package, the whole answer, stands for everything.
    level.times[Time::Ttft] = Some(latency.clone());
    level.times[Time::ChunkGap] = Some(latency.clone());
    level.times[Time::Latency] = Some(latency);
    let text = print(Layout::Evalscope, &[run(vec![level], vec![])], Language::English);
    assert!(text.ends_with(BLOCK), "{text}");
}

const VLLM: [&str; 2] = [
    "\
============ Serving Benchmark Result ============
Successful requests:                     1         
Benchmark duration (s):                  4.53      
Total input tokens:                      80        
Total generated tokens:                  85        
Request throughput (req/s):              0.22      
Output token throughput (tok/s):         18.75     
Total Token throughput (tok/s):          36.40     
---------------Time to First Token----------------
Mean TTFT (ms):                          314.58    
Median TTFT (ms):                        314.58    
P99 TTFT (ms):                           314.58    
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          50.19     
Median TPOT (ms):                        50.19     
P99 TPOT (ms):                           50.19     
---------------Inter-token Latency----------------
Mean ITL (ms):                           49.13     
Median ITL (ms):                         49.66     
P99 ITL (ms):                            94.22     
==================================================
",
    "\
============ Serving Benchmark Result ============
Successful requests:                     16        
Benchmark duration (s):                  6.57      
Total input tokens:                      1279      
Total generated tokens:                  936       
Request throughput (req/s):              2.44      
Output token throughput (tok/s):         142.52    
Total Token throughput (tok/s):          337.26    
---------------Time to First Token----------------
Mean TTFT (ms):                          1034.69   
Median TTFT (ms):                        1207.28   
P99 TTFT (ms):                           1413.84   
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          63.38     
Median TPOT (ms):                        60.83     
P99 TPOT (ms):                           79.37     
---------------Inter-token Latency----------------
Mean ITL (ms):                           61.59     
Median ITL (ms):                         58.60     
P99 ITL (ms):                            203.24    
==================================================
",
];

#[test]
fn a_burst_of_vllm() {
    for block in VLLM {
        let value = |line: &str| line.split(':').nth(1).and_then(|v| v.trim().parse::<f64>().ok());
        let found: Vec<f64> = block.lines().filter_map(value).collect();
        let mut level = blank(LoadKind::Burst, found[0]);
        level.requests.completed = Some(found[0] as u64);
        level.duration_s = Some(found[1]);
        let tokens = |n: f64| Some(Tokens { total: Some(n as u64), mean: n / found[0] });
        (level.input_tokens, level.output_tokens) = (tokens(found[2]), tokens(found[3]));
        level.throughput = Throughput {
            requests_per_s: Some(found[4]),
            output_tokens_per_s: Some(found[5]),
            total_tokens_per_s: Some(found[6]),
            ..Throughput::default()
        };
        let figure =
            |i: usize| Some(distribution(found[i], Some(found[i + 1]), Some(found[i + 2])));
        level.times[Time::Ttft] = figure(7);
        level.times[Time::Tpot] = figure(10);
        level.times[Time::ChunkGap] = figure(13);
        let run = run(vec![level], vec![]);
        assert_eq!(print(Layout::Vllm06, &[run], Language::English), block);
    }
}

const MATRIX: &str = "\
| Input Length | Output Length | Throughput (requests/s) | Throughput (output token/s) | Average latency per token (ms) | Average latency per output token (ms) |
| :----------: | :-----------: | :---------------------: | :-------------------------: | :----------------------------: | :-----------------------------------: |
|     128      |      128      |          5.84           |           747.57            |             12.85              |                 25.69                 |
|     128      |     2048      |          0.12           |           255.35            |             22.95              |                 24.39                 |
|     512      |      128      |          2.49           |           318.54            |              5.35              |                 26.76                 |
|     1024     |      128      |          1.43           |           182.67            |              3.07              |                 27.65                 |
|     1024     |     1024      |          0.17           |           172.86            |             13.01              |                 26.01                 |
|     2048     |      128      |          0.63           |            80.38            |              1.72              |                 29.22                 |
|     2048     |     2048      |          0.03           |            71.09            |             13.84              |                 27.68                 |
";

#[test]
fn a_length_matrix_of_vllm_0_2_7() {
    let mut levels = Vec::new();
    let mut extras = Vec::new();
    for line in MATRIX.lines().skip(2) {
        let found = numbers(line);
        let mut level = blank(LoadKind::Concurrency, 16.0);
        level.throughput.requests_per_s = Some(found[2]);
        level.throughput.output_tokens_per_s = Some(found[3]);
        level.input_length = Some(found[0] as u32);
        level.output_length = Some(found[1] as u32);
        levels.push(level);
        extras.push(LevelExtras {
            latency_per_token_ms: Some(found[4]),
            latency_per_output_token_ms: Some(found[5]),
            ..LevelExtras::default()
        });
    }
    // Whatever the order in which levels ran.
    levels.reverse();
    extras.reverse();
    let run = run(levels, extras);
    assert_eq!(print(Layout::VllmMatrix, &[run], Language::English), MATRIX);
}

/// C13: input lengths down, output lengths across, a table for each metric, in both languages.
#[test]
fn the_matrix_has_input_by_output_lengths() {
    let mut levels = Vec::new();
    for (input, output, rate) in
        [(2048, 32, 1.5), (128, 512, 2.5), (128, 32, 3.5), (2048, 512, 0.5), (128, 32, 4.5)]
    {
        let mut level = blank(LoadKind::Concurrency, 16.0);
        level.throughput.requests_per_s = Some(rate);
        (level.input_length, level.output_length) = (Some(input), Some(output));
        levels.push(level);
    }
    let extras = vec![LevelExtras::default(); levels.len()];
    let run = [run(levels, extras)];
    let text = print(Layout::Matrix, &run, Language::English);
    // Rounds of the same lengths are averaged.
    let table = "**Requests/s**\n\n| input ↓ output → | 32 | 512 |\n| ---: | ---: | ---: |\n\
                 | **128** | 4.00 | 2.50 |\n| **2048** | 1.50 | 0.50 |\n";
    assert!(text.contains(table), "{text}");
    let chinese = print(Layout::Matrix, &run, Language::Chinese);
    assert!(chinese.contains("| 输入 ↓ 输出 → | 32 | 512 |"), "{chinese}");
}
