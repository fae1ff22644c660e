//! Baseline JPEGs of random coefficients: every sampling in one interleaved scan, any restart interval, and Huffman codes that
//! no encoder at hand would write.

use crate::noise::Noise;

/// How a file is written.
#[derive(Clone, Debug)]
pub struct Scribble {
    /// Sampling factors of each component, across and down; one component or three.
    pub factors: Vec<(u8, u8)>,
    /// MCUs between restart markers; 0 writes none.
    pub restart: u16,
    /// Whether all components share one code for DC and one for the rest.
    pub shared_codes: bool,
    /// Whether most codes are long ones.
    pub long_codes: bool,
    /// Whether the components are red, green and blue.
    pub rgb: bool,
    /// The most coefficients of a block besides DC.
    pub coefficients: u32,
    /// What the coefficients are drawn by.
    pub seed: u32,
}

/// A Huffman code: counts by length, symbols, and for each symbol its code and length.
struct Code {
    counts: [u8; 16],
    symbols: Vec<u8>,
    codes: [(u16, u8); 256],
}

impl Code {
    /// A code in which symbol i has `lengths[i]` bits.
    fn new(mut symbols: Vec<(u8, u8)>) -> Self {
        symbols.sort_by_key(|&(_, length)| length);
        let (mut counts, mut codes) = ([0; 16], [(0, 0); 256]);
        let (mut code, mut last) = (0u32, 0);
        for &(symbol, length) in &symbols {
            code <<= length - last;
            codes[usize::from(symbol)] = (code as u16, length);
            counts[usize::from(length) - 1] += 1;
            code += 1;
            last = length;
        }
        assert!(code < 1 << last, "more codes than fit");
        Self { counts, symbols: symbols.into_iter().map(|(symbol, _)| symbol).collect(), codes }
    }

    fn dc(long: bool, swapped: bool) -> Self {
        let length = |size: u8| match (long, size) {
            (true, 0..=2) => 2 + size,
            (true, _) => 16 - (15 - size) / 8,
            (false, _) => 4 + size / 8,
        };
        Self::new(
            (0..12).map(|size| if swapped { 11 - size } else { size }).zip((0..12).map(length)).collect(),
        )
    }

    fn ac(long: bool, swapped: bool) -> Self {
        let mut symbols = vec![0x00, 0xF0];
        symbols.extend((0..16u8).flat_map(|run| (1..=10u8).map(move |size| run << 4 | size)));
        if swapped {
            symbols[2..].reverse();
        }
        let length = |at: usize| match (long, at) {
            (true, 0) => 2,
            (true, 1..=5) => 5,
            (true, 6..=20) => 9,
            (true, _) => 11 + (at % 6) as u8,
            (false, 0..=20) => 6,
            (false, _) => 8,
        };
        Self::new(symbols.iter().enumerate().map(|(at, &symbol)| (symbol, length(at))).collect())
    }
}

/// Bits with stuffing.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    buffer: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            self.buffer = self.buffer << 1 | (value >> bit & 1);
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.buffer as u8);
                if self.buffer as u8 == 0xFF {
                    self.bytes.push(0);
                }
                (self.buffer, self.count) = (0, 0);
            }
        }
    }

    fn symbol(&mut self, code: &Code, symbol: u8, value: i32) {
        let (bits, length) = code.codes[usize::from(symbol)];
        self.put(bits.into(), length.into());
        let size = u32::from(symbol & 15);
        self.put((if value < 0 { value + (1 << size) - 1 } else { value }) as u32, size);
    }

    /// Fills the last byte with ones.
    fn pad(&mut self) {
        self.put(0x7F, (8 - self.count) % 8);
    }
}

fn size_of(value: i32) -> u8 {
    (32 - value.unsigned_abs().leading_zeros()) as u8
}

impl Default for Scribble {
    fn default() -> Self {
        let (factors, seed) = (vec![(2, 2), (1, 1), (1, 1)], 1);
        let (restart, shared_codes, long_codes, rgb) = (0, false, false, false);
        Self { factors, restart, shared_codes, long_codes, rgb, coefficients: 12, seed }
    }
}

impl Scribble {
    /// A file of this size.
    pub fn file(&self, width: u16, height: u16) -> Vec<u8> {
        let codes = [false, true]
            .map(|swapped| [Code::dc(self.long_codes, swapped), Code::ac(self.long_codes, swapped)]);
        let mut file = vec![0xFF, 0xD8];
        self.put_frame(&mut file, width, height);
        for (number, of) in (0u8..).zip(&codes) {
            for (class, code) in [0, 0x10].into_iter().zip(of) {
                put_segment(&mut file, 0xC4, [&[class | number], &code.counts[..], &code.symbols].concat());
            }
        }
        if self.restart > 0 {
            put_segment(&mut file, 0xDD, self.restart.to_be_bytes().into());
        }
        let mut scan = vec![self.factors.len() as u8];
        for number in 0..self.factors.len() {
            let code = self.code_of(number) as u8;
            scan.extend([self.id(number), code << 4 | code]);
        }
        scan.extend([0, 63, 0]);
        put_segment(&mut file, 0xDA, scan);
        file.extend(self.scan(&codes, width, height));
        file.extend([0xFF, 0xD9]);
        file
    }

    fn put_frame(&self, file: &mut Vec<u8>, width: u16, height: u16) {
        let quant: Vec<u8> = [0].into_iter().chain((0..64).map(|at| 3 + at / 4)).collect();
        put_segment(file, 0xDB, quant);
        let mut frame = vec![8];
        frame.extend(height.to_be_bytes());
        frame.extend(width.to_be_bytes());
        frame.push(self.factors.len() as u8);
        for (number, (h, v)) in self.factors.iter().enumerate() {
            frame.extend([self.id(number), h << 4 | v, 0]);
        }
        put_segment(file, 0xC0, frame);
    }

    fn id(&self, component: usize) -> u8 {
        if self.rgb { b"RGB"[component] } else { component as u8 + 1 }
    }

    fn code_of(&self, component: usize) -> usize {
        usize::from(component > 0 && !self.shared_codes)
    }

    /// The entropy-coded bytes.
    fn scan(&self, codes: &[[Code; 2]; 2], width: u16, height: u16) -> Vec<u8> {
        let mut noise = Noise(self.seed);
        // A single component has one block in each MCU, whatever its factors.
        let factors: Vec<(u16, u16)> = match self.factors.len() {
            1 => vec![(1, 1)],
            _ => self.factors.iter().map(|&(h, v)| (h.into(), v.into())).collect(),
        };
        let largest = |of: fn(&(u16, u16)) -> u16| factors.iter().map(of).max().unwrap_or(1);
        let (across, down) = (width.div_ceil(8 * largest(|f| f.0)), height.div_ceil(8 * largest(|f| f.1)));
        let (mut bits, mut predictions) = (Bits::default(), vec![0; factors.len()]);
        for mcu in 0..u32::from(across) * u32::from(down) {
            if self.restart > 0 && mcu > 0 && mcu.is_multiple_of(u32::from(self.restart)) {
                bits.pad();
                bits.bytes.extend([0xFF, 0xD0 + ((mcu / u32::from(self.restart) - 1) % 8) as u8]);
                predictions.fill(0);
            }
            for (component, &(h, v)) in factors.iter().enumerate() {
                for _ in 0..h * v {
                    let codes = &codes[self.code_of(component)];
                    self.put_block(&mut bits, codes, &mut predictions[component], &mut noise);
                }
            }
        }
        bits.pad();
        bits.bytes
    }

    fn put_block(
        &self,
        bits: &mut Bits,
        [dc_code, ac_code]: &[Code; 2],
        prediction: &mut i32,
        noise: &mut Noise,
    ) {
        let mut below = |limit: u32| (noise.bits() >> 8) % limit.max(1);
        let dc = below(400) as i32 - 200;
        let difference = dc - *prediction;
        *prediction = dc;
        bits.symbol(dc_code, size_of(difference), difference);
        let mut k = 1;
        for _ in 0..below(self.coefficients + 1) {
            let mut run = below(4) * below(9);
            if k + run > 63 {
                break;
            }
            k += run + 1;
            while run > 15 {
                bits.symbol(ac_code, 0xF0, 0);
                run -= 16;
            }
            let most = 1i32 << below(6);
            let value = below(2 * most as u32) as i32 - most;
            let value = if value >= 0 { value + 1 } else { value };
            bits.symbol(ac_code, (run << 4) as u8 | size_of(value), value);
        }
        if k < 64 {
            bits.symbol(ac_code, 0, 0);
        }
    }
}

fn put_segment(file: &mut Vec<u8>, marker: u8, body: Vec<u8>) {
    file.extend([0xFF, marker]);
    file.extend((body.len() as u16 + 2).to_be_bytes());
    file.extend(body);
}
