//! Writes ratatui's cells to a terminal, with the few escape sequences that every terminal knows.
//! A frame is assembled in memory and written at once.

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use std::io::{self, Write};

/// Assumed where the terminal does not report its size.
const USUAL: Size = Size { width: 80, height: 24 };

/// A terminal on stderr.
#[derive(Debug, Default)]
pub(super) struct Ansi {
    frame: Vec<u8>,
    colour: bool,
}

impl Ansi {
    pub(super) fn new(colour: bool) -> Self {
        Self { frame: Vec::new(), colour }
    }

    fn style(&mut self, cell: &Cell) {
        self.frame.extend_from_slice(b"\x1b[0");
        for (modifier, code) in
            [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::REVERSED, ";7")]
        {
            if cell.modifier.contains(modifier) {
                self.frame.extend_from_slice(code.as_bytes());
            }
        }
        if let Some(code) = colour(cell.fg).filter(|_| self.colour) {
            self.frame.extend_from_slice(code.as_bytes());
        }
        self.frame.push(b'm');
    }
}

/// The colours that the view uses.
fn colour(colour: Color) -> Option<&'static str> {
    match colour {
        Color::Red => Some(";31"),
        Color::Green => Some(";32"),
        Color::Yellow => Some(";33"),
        Color::Cyan => Some(";36"),
        _ => None,
    }
}

impl Backend for Ansi {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut next: Option<(u16, u16)> = None;
        let mut last: Option<(Color, Modifier)> = None;
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                write!(self.frame, "\x1b[{};{}H", y + 1, x + 1)?;
            }
            if last != Some((cell.fg, cell.modifier)) {
                self.style(cell);
                last = Some((cell.fg, cell.modifier));
            }
            self.frame.extend_from_slice(cell.symbol().as_bytes());
            // Terminals disagree on the width of other characters, so the cursor is placed again.
            next = cell.symbol().is_ascii().then_some((x + 1, y));
        }
        self.frame.extend_from_slice(b"\x1b[0m");
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.frame.extend_from_slice(b"\x1b[?25l");
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.frame.extend_from_slice(b"\x1b[?25h");
        Ok(())
    }

    /// The view never queries the terminal: the reply would arrive among the keys.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        write!(self.frame, "\x1b[{};{}H", y + 1, x + 1)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.frame.extend_from_slice(b"\x1b[0m\x1b[2J");
        Ok(())
    }

    /// Clearing more than requested is harmless: everything is drawn again afterwards.
    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        let size = rustix::termios::tcgetwinsize(io::stderr())?;
        let known = size.ws_col > 0 && size.ws_row > 0;
        Ok(if known { Size::new(size.ws_col, size.ws_row) } else { USUAL })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        let written = stderr.write_all(&self.frame).and_then(|()| stderr.flush());
        self.frame.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_positions_styles_and_text() {
        let mut plain = Cell::new("a");
        let mut bold = Cell::new("█");
        bold.modifier = Modifier::BOLD;
        plain.fg = Color::Red;
        let cells = [(0, 0, &plain), (1, 0, &plain), (2, 0, &bold), (3, 0, &bold)];
        for (colour, red) in [(true, "\x1b[0;31m"), (false, "\x1b[0m")] {
            let mut terminal = Ansi::new(colour);
            terminal.draw(cells.into_iter()).unwrap();
            let want = format!("\x1b[1;1H{red}aa\x1b[0;1m█\x1b[1;4H█\x1b[0m");
            assert_eq!(String::from_utf8(terminal.frame).unwrap(), want);
        }
    }
}
