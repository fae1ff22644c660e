//! The coefficients that scans fill in, and how the MCUs of a scan lie in them.

use super::segments::{Frame, Scan};
use crate::decode_memory::give_back_all;

/// Blocks of coefficients, component by component, in whole MCUs.
#[derive(Default)]
pub(super) struct Store {
    blocks: [Vec<[i16; 64]>; 4],
    /// Blocks in a row of each component.
    across: [usize; 4],
}

impl Store {
    /// Zeros for `rows` rows of interleaved MCUs.
    pub(super) fn reset(&mut self, frame: &Frame, rows: usize) {
        let components = self.blocks.iter_mut().zip(&mut self.across).zip(&frame.components);
        for ((blocks, across), component) in components {
            *across = frame.mcus_across() * component.h;
            let count = *across * rows * component.v;
            if blocks.capacity() < count {
                // Zeros that the system gives as they are written: a short file may claim a huge image.
                *blocks = Vec::new();
                *blocks = bytemuck::zeroed_vec(count);
            } else {
                blocks.clear();
                blocks.resize(count, [0; 64]);
            }
        }
    }

    /// Gives memory back that is too much to be kept for the next file.
    pub(super) fn give_back(&mut self) {
        give_back_all(&mut self.blocks);
    }

    /// The block of a component.
    pub(super) fn block(&self, component: usize, x: usize, y: usize) -> &[i16; 64] {
        &self.blocks[component][y * self.across[component] + x]
    }
}

/// A block of each MCU of a scan.
#[derive(Clone, Copy, Default)]
struct Unit {
    /// The index of its component in the scan, and in the frame.
    slot: usize,
    component: usize,
    /// Its position in the MCU.
    x: usize,
    y: usize,
}

/// The MCUs of a scan.
pub(super) struct Grid {
    units: Vec<Unit>,
    /// Blocks of an MCU across and down, by slot.
    sizes: [(usize, usize); 4],
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Rows of MCUs in a row of interleaved MCUs.
    pub(super) rows_together: usize,
}

impl Grid {
    /// The grid of a scan: one block is one MCU where a component is alone.
    pub(super) fn new(frame: &Frame, scan: &Scan) -> Self {
        let first = frame.components[scan.parts()[0].component];
        let alone = scan.parts().len() == 1;
        let (columns, rows) = match alone {
            true => (first.blocks_across, first.blocks_down),
            false => (frame.mcus_across(), frame.mcus_down()),
        };
        let mut grid = Self {
            units: Vec::new(),
            sizes: [(1, 1); 4],
            columns,
            rows,
            rows_together: if alone { first.v } else { 1 },
        };
        for (slot, part) in scan.parts().iter().enumerate() {
            let component = part.component;
            if !alone {
                grid.sizes[slot] = (frame.components[component].h, frame.components[component].v);
            }
            let (h, v) = grid.sizes[slot];
            grid.units.extend((0..h * v).map(|i| Unit { slot, component, x: i % h, y: i / h }));
        }
        grid
    }

    /// Blocks of all MCUs.
    pub(super) fn blocks(&self) -> u64 {
        (self.columns * self.rows * self.units.len()) as u64
    }

    /// An MCU, of which `store` holds the rows from its first on.
    pub(super) fn mcu<'m>(&'m self, store: &'m mut Store, column: usize, row: usize) -> Mcu<'m> {
        Mcu { grid: self, store, column, row }
    }
}

/// The blocks of an MCU.
pub(super) struct Mcu<'m> {
    grid: &'m Grid,
    store: &'m mut Store,
    column: usize,
    row: usize,
}

impl Mcu<'_> {
    /// The count of them.
    pub(super) fn len(&self) -> usize {
        self.grid.units.len()
    }

    /// The index in the scan of a block's component.
    pub(super) fn slot(&self, i: usize) -> usize {
        self.grid.units[i].slot
    }

    /// A block.
    pub(super) fn block(&mut self, i: usize) -> &mut [i16; 64] {
        let Unit { slot, component, x, y } = self.grid.units[i];
        let (h, v) = self.grid.sizes[slot];
        let (x, y) = (self.column * h + x, self.row * v + y);
        &mut self.store.blocks[component][y * self.store.across[component] + x]
    }
}
