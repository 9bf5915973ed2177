"""Writes the tables in this folder with pyarrow: python3 make.py"""

import pyarrow as pa
import pyarrow.parquet as pq

COUNT = 60


def row(i):
    messages = [
        {"role": "user", "content": f"question {i}"},
        {"role": "assistant", "content": f"answer {i}"},
    ]
    if i == COUNT - 1:
        messages.insert(0, {"role": "system", "content": "s"})
        messages.append({"role": "user", "content": f"question {i}, again"})
    tokens = None if i == 0 else 16 + i
    meta = {"title": f"标题 {i}", "score": i / 2}
    return {"id": i, "messages": messages, "max_tokens": tokens, "meta": meta}


table = pa.Table.from_pylist([row(i) for i in range(COUNT)])
for codec in ["none", "snappy", "gzip", "zstd", "brotli"]:
    pq.write_table(table, f"chat-{codec}.parquet", compression=codec, row_group_size=25)
pq.write_table(
    table, "chat-zstd-v2.parquet", compression="zstd", data_page_version="2.0", row_group_size=25
)
