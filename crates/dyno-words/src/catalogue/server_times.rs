//! Findings about the times that a server reports in its responses.

use crate::wordings;

wordings! {
    /// What the server's own times say about a level.
    pub enum ServerTimesFinding;

    BeyondTtft: Note "server_times_beyond_ttft",
        ["in {} {0|response|responses}, the server's queue, prefill and load times add up to more than \
          TTFT, by up to {} ms",
         "有 {} 个响应中，服务器报告的排队、加载与预填充时间之和超过首 token 时延（TTFT），最多超出 {} ms"],
        ["its clock or its definitions differ from Dyno's, or something in between sends text before \
          the server has it; these requests are not part of “network and front end”",
         "服务器的时钟或定义与 Dyno 不同，或中间环节提前发送了文本；“网络与前端”不包括这些请求"];
    ModelLoaded: Note "model_loaded",
        ["the model was loaded during {} {0|request|requests}, which took up to {} ms of TTFT",
         "有 {} 个请求期间加载了模型，最多占首 token 时延（TTFT）{} ms"],
        ["add --warmup so that it is loaded before the measurement, and give the server enough memory to \
          keep it",
         "请加 --warmup，让模型在测量前加载，并为服务器留出足以保留模型的内存"];
}
