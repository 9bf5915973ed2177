//! Items as a Parquet table: `prompt`, `messages`, `output_tokens` and `input_tokens`.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::edit::weight;
use super::error::DataError;
use dyno_model::prompt::{ChatMessage, Content, Item};

const SCHEMA: &str = "
message prompts {
  OPTIONAL BYTE_ARRAY prompt (STRING);
  OPTIONAL GROUP messages (LIST) {
    REPEATED GROUP list {
      REQUIRED GROUP element {
        REQUIRED BYTE_ARRAY role (STRING);
        REQUIRED BYTE_ARRAY content (STRING);
      }
    }
  }
  OPTIONAL INT64 output_tokens;
  OPTIONAL INT64 input_tokens;
}";

/// A row group is written when it has as many items, or as many bytes.
const GROUP_ITEMS: usize = 10_000;
const GROUP_BYTES: usize = 32 * 1024 * 1024;

/// Writes all items and returns how many there were.
pub(super) fn write(
    items: impl Iterator<Item = std::result::Result<Item, DataError>>,
    out: &mut (dyn Write + Send),
) -> std::result::Result<u64, DataError> {
    let failed = |error: ParquetError| DataError::Write(dyno_model::Message::quoted(error));
    let schema = parse_message_type(SCHEMA).map_err(failed)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer =
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
    let (mut group, mut bytes, mut written) = (Vec::new(), 0, 0);
    for item in items {
        let item = item?;
        written += 1;
        if !matches!(item.content, Content::Text(_) | Content::Messages(_)) {
            return Err(DataError::Unwritable(written));
        }
        bytes += weight(&item);
        group.push(item);
        if group.len() >= GROUP_ITEMS || bytes >= GROUP_BYTES {
            flush(&mut writer, &group).map_err(failed)?;
            group.clear();
            bytes = 0;
        }
    }
    if !group.is_empty() {
        flush(&mut writer, &group).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(written)
}

fn flush<W: Write + Send>(writer: &mut SerializedFileWriter<W>, items: &[Item]) -> Result<()> {
    let mut group = writer.next_row_group()?;
    let prompt = |item: &Item| match &item.content {
        Content::Text(text) => Some(bytes(text)),
        _ => None,
    };
    texts(&mut group, items.iter().map(prompt))?;
    messages(&mut group, items, |message| &message.role)?;
    messages(&mut group, items, |message| &message.content)?;
    numbers(&mut group, items.iter().map(|item| item.output_tokens))?;
    numbers(&mut group, items.iter().map(|item| item.input_tokens))?;
    group.close()?;
    Ok(())
}

fn bytes(text: &str) -> ByteArray {
    text.as_bytes().to_vec().into()
}

/// Levels say which values are there: 1 for those that are.
fn texts<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: impl Iterator<Item = Option<ByteArray>>,
) -> Result<()> {
    let column: Vec<Option<ByteArray>> = column.collect();
    let levels: Vec<i16> = column.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<ByteArray> = column.into_iter().flatten().collect();
    byte_column(group, &values, &levels, None)
}

/// A field of all messages. Level 0 is an item without messages, 1 one with an empty list, and 2
/// a message; repetition 1 is a message of the same item.
fn messages<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    items: &[Item],
    part: impl Fn(&ChatMessage) -> &str,
) -> Result<()> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        let list: Option<&[ChatMessage]> = match &item.content {
            Content::Messages(messages) => Some(messages),
            _ => None,
        };
        if list.is_none_or(<[ChatMessage]>::is_empty) {
            defined.push(i16::from(list.is_some()));
            repeated.push(0);
        }
        for (index, message) in list.unwrap_or_default().iter().enumerate() {
            values.push(bytes(part(message)));
            defined.push(2);
            repeated.push(i16::from(index > 0));
        }
    }
    byte_column(group, &values, &defined, Some(&repeated))
}

fn byte_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[ByteArray],
    defined: &[i16],
    repeated: Option<&[i16]>,
) -> Result<()> {
    let mut column = next(group)?;
    if let ColumnWriter::ByteArrayColumnWriter(writer) = column.untyped() {
        writer.write_batch(values, Some(defined), repeated)?;
    }
    column.close()
}

fn numbers<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: impl Iterator<Item = Option<u32>> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = column.clone().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<i64> = column.flatten().map(i64::from).collect();
    let mut column = next(group)?;
    if let ColumnWriter::Int64ColumnWriter(writer) = column.untyped() {
        writer.write_batch(&values, Some(&levels), None)?;
    }
    column.close()
}

fn next<'a, W: Write + Send>(
    group: &'a mut SerializedRowGroupWriter<'_, W>,
) -> Result<parquet::file::writer::SerializedColumnWriter<'a>> {
    group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".into()))
}
