//! Findings about the server's prefix cache: how much of the prompts it held, and whether it should have.

use crate::wordings;

const NEW_PROMPTS: [&str; 2] = [
    "TTFT and throughput are those of prompts that the server has seen before; omit --seed for new \
     prompts, use --unique-prefix, or restart the server or reset its cache (--reset-cache); if this \
     is intended, add --same-prompts",
    "这些首 token 时延（TTFT）和吞吐量属于服务器见过的提示词；请去掉 --seed 以生成新的提示词，使用 --unique-prefix，或重启服务器、\
     清空缓存（--reset-cache）；如果有意如此，请加 --same-prompts",
];
const CACHE_HIT: [&str; 2] = [
    "--cache-hit asked for {} of the prompt tokens from the prefix cache; {} came from it",
    "--cache-hit 要求前缀缓存命中率为 {}，实际为 {}",
];

wordings! {
    /// What the server's prefix cache did to a level.
    pub enum CacheFinding;

    Mostly: Error "cached_random",
        ["{} of the prompt tokens came from the prefix cache although the prompts are random: this \
          level measures the cache",
         "提示词是随机的，前缀缓存命中率却为 {}：该档位测到的是缓存"],
        NEW_PROMPTS;
    Partly: Warning "cached_random",
        ["{} of the prompt tokens came from the prefix cache although the prompts are random",
         "提示词是随机的，前缀缓存命中率却为 {}"],
        NEW_PROMPTS;
    RowsAgain: Warning "cached_rows",
        ["the data has too few rows, so prompts were sent again, and {} of the prompt tokens came \
          from the prefix cache",
         "数据行数不足，部分提示词被重复发送，前缀缓存命中率为 {}"],
        ["provide more rows, send fewer requests or use --unique-prefix; if this is intended, add \
          --same-prompts",
         "请提供更多数据行、减少请求或使用 --unique-prefix；如果有意如此，请加 --same-prompts"];
    Meant: Note "cached_share",
        ["{} of the prompt tokens came from the prefix cache",
         "前缀缓存命中率为 {}"],
        ["compare it with runs that have about the same share",
         "请与命中率相近的测试对比"];
    SourcesDiffer: Note "cache_sources_differ",
        ["usage reports {} of the prompt tokens as cached, the server's counters {}",
         "前缀缓存命中率按 usage 为 {}，按服务器计数器为 {}"],
        ["others use the server, the counters belong to one of several servers, or one of the two is \
          incomplete; the verdict follows usage",
         "可能有其他用户在使用服务器，计数器只属于多台服务器之一，或其中一方统计不全；判定以 usage 为准"];
    HitNone: Warning "cache_hit_missed",
        CACHE_HIT,
        ["the server's prefix cache is off, too small to keep the shared prefixes, or its blocks are \
          longer than they are: switch it on, give the KV cache more memory, share fewer prefixes \
          (--data random,groups=2), or use longer prompts (--input-tokens)",
         "服务器的前缀缓存未开启、过小而无法保留共享前缀，或其块比共享前缀更长：请开启缓存，增大 KV 缓存，\
          减少共享前缀的组数（--data random,groups=2），或使用更长的提示词（--input-tokens）"];
    HitLess: Warning "cache_hit_missed",
        CACHE_HIT,
        ["the shared prefixes were evicted, or the cache's blocks are larger than 16 tokens: give the \
          KV cache more memory, share fewer prefixes (--data random,groups=2), or use longer prompts",
         "共享前缀被淘汰，或缓存块大于 16 个 token：请增大 KV 缓存，减少共享前缀的组数\
          （--data random,groups=2），或使用更长的提示词"];
    HitMore: Warning "cache_hit_missed",
        CACHE_HIT,
        ["the server has seen these prompts before, or the chat template is long: omit --seed, or reset \
          the cache (--reset-cache)",
         "服务器此前见过这些提示词，或对话模板较长：请去掉 --seed，或清空缓存（--reset-cache）"];
    HitUnknown: Note "cache_hit_unknown",
        ["cannot determine whether --cache-hit {} was met: the server reports no cached tokens",
         "无法判定 --cache-hit {} 是否达到：服务器不报告缓存的 token 数"],
        ["start vLLM with --enable-prompt-tokens-details, SGLang with --enable-cache-report, or pass \
          the address of the server's metrics with --metrics",
         "请以 --enable-prompt-tokens-details 启动 vLLM，以 --enable-cache-report 启动 SGLang，或用 --metrics 指定其指标地址"];
}
