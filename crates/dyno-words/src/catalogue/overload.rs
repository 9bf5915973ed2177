//! What is said of a server that refuses requests because it has too many.

use crate::wordings;

wordings! {
    /// A finding about an overloaded server.
    pub enum Overloaded;

    Shed: Warning "overloaded",
        ["the server was overloaded: it shed {} of {} requests ({}; {} allowed)",
         "服务器过载：{1} 个请求中有 {0} 个被拒绝（{2}；允许 {3}）"],
        ["this is a result: the load is beyond what the server accepts. Throughput and latency cover \
          only the requests that completed; lower the load, or let the server queue more",
         "这本身就是结果：负载超出了服务器愿意接受的范围。吞吐量与时延只统计成功的请求；请降低负载，或让服务器接受更长的队列"];
    Paused: Note "paused",
        ["clients paused {} s in total after refusals, {} of their time",
         "被拒绝之后，各并发客户端共暂停 {} s，占其总时间的 {}"],
        ["so that a server that refuses at once is not flooded; the load was lower by as much. To \
          offer a fixed load whatever the server does, use --rate",
         "这是为了避免对立即拒绝的服务器狂发请求；负载也相应降低。如需无论服务器如何响应都施加固定负载，请用 --rate"];
    Retried: Note "retried",
        ["{} of {} requests ({}) were refused at first and sent again, {} times in all; {} of them \
          completed",
         "{1} 个请求中有 {0} 个（{2}）起初被拒绝并重新发送，共重发 {3} 次；其中 {4} 个最终成功"],
        ["their latency counts from when they were first sent, with all waits in between",
         "它们的时延从首次发送算起，包含其间的全部等待"];
    MaxFailures: Warning "max_failures",
        ["stopped after {} failures (--max-failures)", "失败达到 {} 个后停止（--max-failures）"],
        ["look at the failures and at the server's log", "请查看失败信息和服务器日志"];
}
