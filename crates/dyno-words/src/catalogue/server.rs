//! Findings from the server's metrics.

use crate::wordings;

const GIVE_MEMORY: [&str; 2] = [
    "a preempted request is recomputed, which costs throughput and shows as long gaps; give the cache \
     more memory, or limit the number of sequences",
    "被抢占的请求需要重新计算，会降低吞吐量并表现为长间隔；请增大缓存显存，或限制并发序列数",
];
const QUEUE: [&str; 2] = [
    "requests waited in the server for {} of the level: {} on average{}",
    "该档位 {} 的时间里有请求在服务器中排队：平均 {} 个{}",
];

wordings! {
    /// What the server's metrics show.
    pub enum ServerFinding;

    KvFull: Note "kv_cache_full",
        ["the KV cache was full: preemptions ({} {0|request|requests}{})",
         "KV 缓存已满，发生抢占（{} 个请求{}）"],
        GIVE_MEMORY;
    KvFullFrom: Note "kv_cache_full",
        ["the KV cache was full from {} on: preemptions start there ({} {1|request|requests}{})",
         "自 {} 起 KV 缓存已满，开始发生抢占（{} 个请求{}）"],
        GIVE_MEMORY;
    KvFullAt: Note "kv_cache_full",
        ["the KV cache was full at {}: preemptions start there ({} {1|request|requests}{})",
         "在 {} 时 KV 缓存已满，开始发生抢占（{} 个请求{}）"],
        GIVE_MEMORY;
    CountersMixed: Note "server_counters",
        ["the server's counters cannot be used: they are of several processes in turn, such as replicas behind a \
          load balancer",
         "服务器的计数器不可用：响应轮流来自多个进程，例如负载均衡后的多个副本"],
        ["preemptions, the hit rate of the prefix cache and memory are left out; name the metrics of one server \
          with --metrics URL",
         "已略去抢占次数、前缀缓存命中率和内存；请用 --metrics URL 指定某一台服务器的指标地址"];
    QueueKv: Note "server_queue",
        QUEUE,
        ["its KV cache is full, so no more requests fit into the batch, and TTFT includes this wait: \
          give the cache more memory (vLLM: --gpu-memory-utilization), or lower the load",
         "KV 缓存已满，批次无法再容纳请求，首 token 时延（TTFT）包含这段等待：请增大缓存显存（vLLM：\
          --gpu-memory-utilization），或降低负载"];
    QueueCap: Note "server_queue",
        QUEUE,
        ["its limit on sequences or on tokens per step is reached, not its KV cache, and TTFT \
          includes this wait: raise the limit (vLLM: --max-num-seqs, --max-num-batched-tokens), or \
          lower the load",
         "已达到序列数或单步 token 数上限，而非 KV 缓存上限，首 token 时延（TTFT）包含这段等待：请提高上限（vLLM：\
          --max-num-seqs、--max-num-batched-tokens），或降低负载"];
    QueuePrompts: Note "server_queue",
        QUEUE,
        ["its batch was fuller at other times and its KV cache is not full, so its limit on sequences is not the reason: \
          requests wait until the prompts before them are processed, and TTFT includes this wait: allow more tokens \
          per step (vLLM: --max-num-batched-tokens), send shorter prompts, or lower the load",
         "批次在其他时刻更满，KV 缓存也未满，因此原因不是序列数上限：请求在等待前面的提示词处理完，首 token 时延（TTFT）包含这段等待：\
          请提高单步 token 数上限（vLLM：--max-num-batched-tokens）、缩短提示词，或降低负载"];
    Queue: Note "server_queue",
        QUEUE,
        ["its limit on sequences or on tokens per step, or its KV cache, is reached, and TTFT \
          includes this wait: raise the limit (vLLM: --max-num-seqs, --max-num-batched-tokens), give \
          the cache more memory, or lower the load",
         "已达到序列数、单步 token 数或 KV 缓存的上限，首 token 时延（TTFT）包含这段等待：请提高上限（vLLM：\
          --max-num-seqs、--max-num-batched-tokens）、增大缓存显存，或降低负载"];
    QueueTexts: Note "server_queue",
        QUEUE,
        ["its limit on sequences or on tokens per step is reached, and the latency includes this \
          wait: raise the limit (vLLM: --max-num-seqs, --max-num-batched-tokens), or lower the load",
         "已达到序列数或单步 token 数上限，时延包含这段等待：请提高上限（vLLM：--max-num-seqs、\
          --max-num-batched-tokens），或降低负载"];
    Fewer: Note "server_has_fewer",
        ["this client had {} requests in flight on average, but the server had only {} running or \
          waiting",
         "本客户端的并发数平均为 {}，而服务器上运行和排队的只有 {} 个"],
        ["something in between holds them back or distributes them: a proxy, a limit of the front \
          end, or several servers behind one address of which only one is queried",
         "中间有环节截留或分散了请求：代理、前端限制，或同一地址后有多台服务器而只查询了其中一台"];
    More: Note "server_has_more",
        ["the server had {} requests running or waiting on average, but this client had only {} in \
          flight",
         "服务器上平均有 {} 个运行或排队的请求，而本客户端的并发数只有 {}"],
        ["others use the server: the verdict stays, because it is about how exactly these results were \
          measured, but they are those of a shared server; measure it alone, or count all clients",
         "有其他用户在使用该服务器：判定不变，因为它只说明测量是否准确，但这些是共享服务器的结果；请单独测量，\
          或计入所有客户端"];
}
