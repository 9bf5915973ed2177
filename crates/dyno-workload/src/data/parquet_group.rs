//! A row group of a Parquet file whose pages may be compressed with Zstandard, which is undone
//! here, so that no C library is needed for it.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use dyno_model::message;
use parquet::basic::Compression;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::parquet_read::own;
use super::record::MAX_RECORD;
use super::zstd::Frames;

/// The largest page that is unpacked: a page holds at least one whole value.
const MAX_PAGE: u64 = 4 * MAX_RECORD as u64;

/// One row group of a file.
pub(super) struct Group<'a> {
    pub(super) file: Arc<File>,
    pub(super) metadata: &'a RowGroupMetaData,
}

impl RowGroupReader for Group<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.metadata
    }

    fn num_columns(&self) -> usize {
        self.metadata.num_columns()
    }

    fn get_column_page_reader(&self, i: usize) -> Result<Box<dyn PageReader>> {
        let column = self.metadata.column(i);
        let rows = usize::try_from(self.metadata.num_rows())?;
        if !matches!(column.compression(), Compression::ZSTD(_)) {
            let pages = SerializedPageReader::new(self.file.clone(), column, rows, None)?;
            return Ok(Box::new(pages));
        }
        // With compression set to none, the reader returns the pages as they are.
        let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let pages = SerializedPageReader::new(self.file.clone(), &plain.build()?, rows, None)?;
        Ok(Box::new(ZstdPages(pages)))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

struct ZstdPages(SerializedPageReader<File>);

impl ZstdPages {
    fn unpacked(page: Page) -> Result<Page> {
        Ok(match page {
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                statistics,
            } => Page::DataPage {
                buf: unpack(&buf, 0)?.into(),
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                statistics,
            },
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed: true,
                statistics,
            } => Page::DataPageV2 {
                buf: unpack(&buf, def_levels_byte_len as usize + rep_levels_byte_len as usize)?
                    .into(),
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed: false,
                statistics,
            },
            Page::DictionaryPage { buf, num_values, encoding, is_sorted } => Page::DictionaryPage {
                buf: unpack(&buf, 0)?.into(),
                num_values,
                encoding,
                is_sorted,
            },
            plain @ Page::DataPageV2 { .. } => plain,
        })
    }
}

/// Unpacks what follows the first `plain` bytes.
fn unpack(bytes: &[u8], plain: usize) -> Result<Vec<u8>> {
    let (levels, packed) = bytes.split_at_checked(plain).ok_or_else(|| {
        own(message!("a page is shorter than its levels", "一个数据页短于其层级数据"))
    })?;
    let mut unpacked = levels.to_vec();
    let size =
        Frames::new(packed).take(MAX_PAGE + 1).read_to_end(&mut unpacked).map_err(|error| {
            own(message!("a zstd page is damaged: {error}", "一个 zstd 数据页已损坏：{error}"))
        })?;
    if size as u64 > MAX_PAGE {
        return Err(own(message!("a page is larger than 256 MiB", "一个数据页超过 256 MiB")));
    }
    Ok(unpacked)
}

impl Iterator for ZstdPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ZstdPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.0.get_next_page()?.map(Self::unpacked).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }
}
