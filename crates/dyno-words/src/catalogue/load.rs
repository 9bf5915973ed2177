//! What is said of the load that a run puts on a server: data that were checked before it, lengths
//! that a search chose, and arrivals that waited in the client.

use crate::wordings;

wordings! {
    /// What is said of data, levels and arrivals.
    pub enum LoadNote;

    AllChecked: Note "data_checked",
        ["data: all {} records checked", "数据：已检查全部 {} 条记录"];
    LimitChecked: Note "data_checked",
        ["data: the first {} records checked, which is all that --limit takes",
         "数据：已检查前 {} 条记录，即 --limit 所取的全部"];
    FirstChecked: Note "data_checked",
        ["data: the first {} records checked; the rest is checked as it is read",
         "数据：已检查前 {} 条记录，其余在读取时检查"];
    SampleChecked: Note "data_checked",
        ["data: the first {} records and {} more spread over the file checked; the rest is checked \
          as it is read",
         "数据：已检查前 {} 条记录以及分布在文件其余部分的 {} 条，其余在读取时检查"];
    UnusableFound: Note "data_checked",
        ["data: {} of them cannot be used and will be skipped, as skip_bad=true asks",
         "数据：其中 {} 条不可用，将按 skip_bad=true 跳过"];
}
