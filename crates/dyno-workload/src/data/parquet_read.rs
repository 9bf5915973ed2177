//! Rows of a Parquet file, a few at a time and only the columns that are needed.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dyno_model::{Message, message};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use serde_json::{Map, Number, Value};

use super::at::At;
use super::error::DataError;
use super::parquet_group::Group;
use super::pick::Pick;
use super::record::{Record, Records};

/// Rows read ahead in each column.
const BATCH: usize = 32;

struct Rows {
    file: Arc<File>,
    metadata: Arc<ParquetMetaData>,
    columns: SchemaDescPtr,
    name: Arc<Message>,
    group: usize,
    rows: Option<ReaderIter>,
    number: u64,
    ended: bool,
}

/// The rows of a file; only the columns that `pick` needs, where it is known.
pub(super) fn rows(
    file: File,
    name: Message,
    pick: Option<&Pick>,
) -> Result<Box<dyn Records>, DataError> {
    let table = |what, fix| DataError::Table { path: name.clone(), what, fix };
    let unreadable = |error: ParquetError| {
        let what = message!(
            "not a readable Parquet file: {}",
            "不是可读的 Parquet 文件：{}",
            said_by(&error)
        );
        table(what, message!("fetch it again", "请重新下载"))
    };
    let copy = file.try_clone().map_err(|source| DataError::Open { path: name.clone(), source })?;
    let metadata = guarded(|| {
        let reader = SerializedFileReader::new(copy)?;
        Ok(Arc::new(reader.metadata().clone()))
    })
    .map_err(unreadable)?;
    let schema = metadata.file_metadata().schema_descr_ptr();
    let columns = match pick {
        Some(pick) => needed(&schema, pick).map_err(unreadable)?,
        None => schema,
    };
    if let Some(codec) = unknown_codec(&metadata, &columns) {
        let what = message!(
            "its pages are compressed with {codec}, which is not supported",
            "其数据页用 {codec} 压缩，不受支持"
        );
        let fix = message!(
            "rewrite it with snappy, gzip or zstd compression",
            "请改用 snappy、gzip 或 zstd 压缩后重写"
        );
        return Err(table(what, fix));
    }
    let (file, name) = (Arc::new(file), Arc::new(name));
    let (group, rows, number, ended) = (0, None, 0, false);
    Ok(Box::new(Rows { file, metadata, columns, name, group, rows, number, ended }))
}

/// The schema with nothing but the columns that a pick reads.
fn needed(schema: &SchemaDescPtr, pick: &Pick) -> Result<SchemaDescPtr, ParquetError> {
    let root = schema.root_schema();
    let names: Vec<String> = root.get_fields().iter().map(|field| field.name().into()).collect();
    if pick.prompt.is_none() {
        return Ok(schema.clone());
    }
    let wanted: Vec<&str> = pick.fields().iter().map(|path| path.root(&names)).collect();
    let fields = root.get_fields().iter().filter(|field| wanted.contains(&field.name()));
    let kept = Type::group_type_builder(root.name()).with_fields(fields.cloned().collect());
    Ok(Arc::new(SchemaDescriptor::new(Arc::new(kept.build()?))))
}

fn unknown_codec(metadata: &ParquetMetaData, columns: &SchemaDescriptor) -> Option<String> {
    let used: Vec<_> = columns.columns().iter().map(|column| column.path().clone()).collect();
    let mut chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    chunks.find_map(|chunk| match chunk.compression() {
        _ if !used.contains(chunk.column_path()) => None,
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::ZSTD(_) => None,
        other => Some(format!("{other:?}").split('(').next().unwrap_or_default().to_string()),
    })
}

/// The Parquet library panics on some damaged files.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(own(message!("its structure contradicts itself", "其结构自相矛盾")))
    })
}

/// What is wrong, as an error of the library.
pub(super) fn own(what: Message) -> ParquetError {
    ParquetError::External(Box::new(what))
}

fn said_by(error: &ParquetError) -> Message {
    if let ParquetError::External(error) = error
        && let Some(own) = error.downcast_ref::<Message>()
    {
        return own.clone();
    }
    let text = error.to_string();
    Message::quoted(text.strip_prefix("Parquet error: ").unwrap_or(&text))
}

impl Rows {
    fn row(&mut self) -> Result<Option<Row>, ParquetError> {
        loop {
            if let Some(row) = self.rows.as_mut().and_then(Iterator::next) {
                return row.map(Some);
            }
            if self.group == self.metadata.num_row_groups() {
                return Ok(None);
            }
            let metadata = self.metadata.row_group(self.group);
            let group = Group { file: self.file.clone(), metadata };
            let builder = TreeBuilder::new().with_batch_size(BATCH);
            self.rows = Some(builder.as_iter(self.columns.clone(), &group)?);
            self.group += 1;
        }
    }
}

impl Records for Rows {
    fn next(&mut self) -> Option<Result<Record, DataError>> {
        if self.ended {
            return None;
        }
        self.number += 1;
        match guarded(|| self.row()) {
            Ok(Some(row)) => {
                let at = At::row(&self.name, self.number);
                Some(Ok(Record { at, value: object(row) }))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(DataError::Broken {
                    at: At::row(&self.name, self.number),
                    what: message!(
                        "the table cannot be read further: {}",
                        "表格无法继续读取：{}",
                        said_by(&error)
                    ),
                    fix: message!("fetch the file again, or rewrite it", "请重新下载或重写该文件"),
                }))
            }
        }
    }
}

fn object(row: Row) -> Value {
    let columns = row.into_columns().into_iter();
    Value::Object(columns.map(|(name, field)| (name, value(&field))).collect())
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(yes) => Value::Bool(*yes),
        Field::Byte(number) => Value::from(*number),
        Field::Short(number) => Value::from(*number),
        Field::Int(number) => Value::from(*number),
        Field::Long(number) => Value::from(*number),
        Field::UByte(number) => Value::from(*number),
        Field::UShort(number) => Value::from(*number),
        Field::UInt(number) => Value::from(*number),
        Field::ULong(number) => Value::from(*number),
        Field::Float(number) => float(f64::from(*number)),
        Field::Double(number) => float(*number),
        Field::Str(text) => Value::String(text.clone()),
        // Older writers do not mark text as such.
        Field::Bytes(bytes) => match str::from_utf8(bytes.data()) {
            Ok(text) => Value::String(text.into()),
            Err(_) => Value::Null,
        },
        Field::Group(row) => Value::Object(
            row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect(),
        ),
        Field::ListInternal(list) => Value::Array(list.elements().iter().map(value).collect()),
        Field::MapInternal(map) => Value::Object(
            map.entries()
                .iter()
                .map(|(key, field)| (key.to_string(), value(field)))
                .collect::<Map<_, _>>(),
        ),
        other => Value::String(other.to_string()),
    }
}

fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}
