//! The inverse DCT of as many blocks as a register has 128-bit lanes: written once, built for two widths.
//!
//! Every operation stays within its lane, so the width does not matter. The file that calls the macro defines the vector
//! type `Vector` and the lane count `LANES`, and imports its instructions under the short names used here. It also
//! defines how blocks are loaded (`is_corner`, `load`) and stored (`store`), and how some of them are selected
//! (`is_wild`, `mask`, `Flat`, `choose`).
//!
//! More than a third of all blocks, here called corners, have no coefficients outside of their top left quarter. Most
//! terms of both passes are zero for them, so corners are grouped and transformed by the remaining terms.

/// Defines `in_groups` and `sorted` with what they need, for the given target features.
macro_rules! transform {
    ($features:literal) => {
        /// Dequantises and transforms as many blocks as there are `targets`, and zeroes them; `components` selects the
        /// factors of each from `quants`.
        #[target_feature(enable = $features)]
        fn in_groups(
            blocks: &mut [[i16; 64]; Batch::ROOM],
            components: &[usize; Batch::ROOM],
            quants: &Quants,
            targets: &mut Targets<'_>,
        ) {
            let count = targets.targets.len().min(Batch::ROOM);
            let corners = (0..count).rev().fold(0, |bits, i| bits << 1 | u32::from(is_corner(&blocks[i])));
            let others = !corners & ((1u64 << count) - 1) as u32;
            in_order_of_kind::<true>((corners, others), blocks, components, quants, targets);
        }

        /// Dequantises and transforms the blocks that have a bit in the first mask, which are all corners, and those that
        /// have one in the second.
        #[inline]
        #[target_feature(enable = $features)]
        fn in_order_of_kind<const CLEAR: bool>(
            (mut corners, mut others): (u32, u32),
            blocks: &mut [[i16; 64]; Batch::ROOM],
            components: &[usize; Batch::ROOM],
            quants: &Quants,
            targets: &mut Targets<'_>,
        ) {
            for _ in 0..corners.count_ones() as usize / LANES {
                let group = std::array::from_fn(|_| take_first(&mut corners));
                transform_group::<true, CLEAR>(group, blocks, components, quants, targets);
            }
            // Corners that do not fill a group join the others.
            others |= corners;
            while others != 0 {
                // In a group that is not full, the last block is transformed more than once.
                let mut last = 0;
                let group = std::array::from_fn(|_| {
                    last = if others == 0 { last } else { take_first(&mut others) };
                    last
                });
                transform_group::<false, CLEAR>(group, blocks, components, quants, targets);
            }
        }

        /// [`in_order_of_kind`] of blocks that stay as they are.
        #[target_feature(enable = $features)]
        fn sorted(
            sorted: (u32, u32),
            blocks: &mut [[i16; 64]; Batch::ROOM],
            components: &[usize; Batch::ROOM],
            quants: &Quants,
            targets: &mut Targets<'_>,
        ) {
            in_order_of_kind::<false>(sorted, blocks, components, quants, targets);
        }

        /// The index of the lowest set bit, which is then cleared.
        #[inline]
        #[target_feature(enable = $features)]
        fn take_first(bits: &mut u32) -> usize {
            let first = bits.trailing_zeros() as usize;
            *bits &= bits.wrapping_sub(1);
            first % Batch::ROOM
        }

        /// Transforms the blocks of `group`, of which all are corners if `CORNERS`.
        #[inline]
        #[target_feature(enable = $features)]
        fn transform_group<const CORNERS: bool, const CLEAR: bool>(
            group: [usize; LANES],
            blocks: &mut [[i16; 64]; Batch::ROOM],
            components: &[usize; Batch::ROOM],
            quants: &Quants,
            targets: &mut Targets<'_>,
        ) {
            let coefficients = group.map(|i| &blocks[i % Batch::ROOM]);
            let components = group.map(|i| components[i % Batch::ROOM]);
            let flat_if_wild = |first: Vector| if is_wild(first) { flat_mask(coefficients) } else { None };
            let rows = if CORNERS {
                let x = load::<4>(coefficients, quants, components);
                inverse_corner(x, flat_if_wild(x[0]))
            } else {
                let x = load::<8>(coefficients, quants, components);
                inverse(x, flat_if_wild(x[0]))
            };
            if CLEAR {
                // A block at a time: of a length that is known here, and while it is still at hand.
                group.iter().for_each(|&i| blocks[i % Batch::ROOM] = [0; 64]);
            }
            store(rows, group, targets);
        }

        /// A mask of the blocks whose rows 1 to 7 are all zero, `None` if there is no such block.
        #[cold]
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn flat_mask(blocks: [&[i16; 64]; LANES]) -> Option<Flat> {
            let flat = blocks.map(|block| block[8..] == [0; 56]);
            flat.contains(&true).then(|| mask(flat))
        }

        /// A pair of 16-bit factors for `madd`, the first for the even element.
        #[inline]
        #[target_feature(enable = $features)]
        fn factors(first: i16, second: i16) -> Vector {
            set1_32((second as i32) << 16 | (first as u16 as i32))
        }

        /// 32-bit values of the low and the high four columns of each block.
        #[derive(Clone, Copy)]
        struct Wide(Vector, Vector);

        impl Wide {
            #[inline]
            #[target_feature(enable = $features)]
            fn add(self, other: Wide) -> Wide {
                Wide(add_32(self.0, other.0), add_32(self.1, other.1))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn sub(self, other: Wide) -> Wide {
                Wide(sub_32(self.0, other.0), sub_32(self.1, other.1))
            }

            /// Rounds, shifts and saturates to 16 bits.
            #[inline]
            #[target_feature(enable = $features)]
            fn descale<const SHIFT: i32>(self) -> Vector {
                pack_32(
                    shift_right_32(self.0, _mm_cvtsi32_si128(SHIFT)),
                    shift_right_32(self.1, _mm_cvtsi32_si128(SHIFT)),
                )
            }
        }

        /// The pairs (a, b), ready to be multiplied and summed by constants.
        #[derive(Clone, Copy)]
        struct Pairs(Vector, Vector);

        impl Pairs {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(a: Vector, b: Vector) -> Pairs {
                Pairs(low_16(a, b), high_16(a, b))
            }

            /// Of the low four columns alone.
            #[inline]
            #[target_feature(enable = $features)]
            fn low_dot(self, a: i16, b: i16) -> Vector {
                multiply_add(self.0, factors(a, b))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn dot(self, a: i16, b: i16) -> Wide {
                let by = factors(a, b);
                Wide(multiply_add(self.0, by), multiply_add(self.1, by))
            }
        }

        /// A sum of two inputs, times 2^13, plus the rounding term of the descaling that follows.
        #[inline]
        #[target_feature(enable = $features)]
        fn scaled<const SHIFT: i32>(sum: Vector) -> Wide {
            // The rounding term does not fit 16 bits, but an eighth of it does.
            Pairs::new(sum, set1_16(8)).dot(8192, (1 << (SHIFT - 4)) as i16)
        }

        /// The one-dimensional transform of `idct::one_dimension`, for all columns of all blocks.
        #[inline]
        #[target_feature(enable = $features)]
        fn pass<const SHIFT: i32>(x: [Vector; 8]) -> [Vector; 8] {
            let two_six = Pairs::new(x[2], x[6]);
            let sums = Pairs::new(add_16(x[7], x[3]), add_16(x[5], x[1]));
            let (seven_one, five_three) = (Pairs::new(x[7], x[1]), Pairs::new(x[5], x[3]));
            // In this order as little as possible is kept at a time.
            let (t0, t3) = (scaled::<SHIFT>(add_16(x[0], x[4])), two_six.dot(10703, 4433));
            let (z3, z4) = (sums.dot(-6436, 9633), sums.dot(9633, 6437));
            let (a, h) = butterfly::<SHIFT>(t0.add(t3), seven_one.dot(-7373, 4926).add(z4));
            let (d, e) = butterfly::<SHIFT>(t0.sub(t3), seven_one.dot(-4927, -7373).add(z3));
            let (t1, t2) = (scaled::<SHIFT>(sub_16(x[0], x[4])), two_six.dot(4433, -10704));
            let (b, g) = butterfly::<SHIFT>(t1.add(t2), five_three.dot(-20995, 4177).add(z3));
            let (c, f) = butterfly::<SHIFT>(t1.sub(t2), five_three.dot(-4176, -20995).add(z4));
            [a, b, c, d, e, f, g, h]
        }

        /// The descaled sum and difference.
        #[inline]
        #[target_feature(enable = $features)]
        fn butterfly<const SHIFT: i32>(even: Wide, odd: Wide) -> (Vector, Vector) {
            (even.add(odd).descale::<SHIFT>(), even.sub(odd).descale::<SHIFT>())
        }

        /// Factors of the values 0 and 2, and of 1 and 3, in the first four even and odd sums of [`pass`] where the
        /// values 4 to 7 are zero.
        const EVEN: [(i16, i16); 4] = [(8192, 10703), (8192, 4433), (8192, -4433), (8192, -10703)];
        const ODD: [(i16, i16); 4] = [(11363, 9633), (9633, -2259), (6437, -11362), (2260, -6436)];

        /// [`pass`] where the values 4 to 7 are zero.
        #[inline]
        #[target_feature(enable = $features)]
        fn short_pass<const SHIFT: i32>(x: [Vector; 4]) -> [Vector; 8] {
            let (evens, odds) = (Pairs::new(x[0], x[2]), Pairs::new(x[1], x[3]));
            let round = set1_32(1 << (SHIFT - 1));
            let pair = |i: usize| {
                let ((a, b), (c, d)) = (EVEN[i], ODD[i]);
                butterfly::<SHIFT>(evens.dot(a, b).add(Wide(round, round)), odds.dot(c, d))
            };
            let [(a, h), (b, g), (c, f), (d, e)] = [pair(0), pair(1), pair(2), pair(3)];
            [a, b, c, d, e, f, g, h]
        }

        /// [`short_pass`] of the low four columns alone, transposed: four rows of eight. In the blocks that `flat`
        /// names, it is the shortcut of [`inverse`].
        #[inline]
        #[target_feature(enable = $features)]
        fn corner_pass(x: [Vector; 4], flat: Option<Flat>) -> [Vector; 4] {
            let (evens, odds) = (Pairs::new(x[0], x[2]), Pairs::new(x[1], x[3]));
            let round = set1_32(1 << 10);
            let even = EVEN.map(|(a, b)| add_32(evens.low_dot(a, b), round));
            let odd = ODD.map(|(a, b)| odds.low_dot(a, b));
            let out = |i: usize| {
                let sum = if i < 4 { add_32(even[i], odd[i]) } else { sub_32(even[7 - i], odd[7 - i]) };
                shift_right_32(sum, _mm_cvtsi32_si128(11))
            };
            // Two rows in each, so that the first step of the transposition finds neighbours beside each other.
            let mut rows = [(0, 2), (1, 3), (4, 6), (5, 7)].map(|(i, j)| pack_32(out(i), out(j)));
            if let Some(flat) = flat {
                let wrapped = shift_left_16(x[0], _mm_cvtsi32_si128(2));
                rows = rows.map(|row| choose(row, low_64(wrapped, wrapped), flat));
            }
            let [a, b, c, d] = rows;
            let (top, top2) = (low_16(a, b), high_16(a, b));
            let (bottom, bottom2) = (low_16(c, d), high_16(c, d));
            let (top, top2) = (low_32(top, top2), high_32(top, top2));
            let (bottom, bottom2) = (low_32(bottom, bottom2), high_32(bottom, bottom2));
            [low_64(top, bottom), high_64(top, bottom), low_64(top2, bottom2), high_64(top2, bottom2)]
        }

        /// [`inverse`] of blocks that have nothing outside of the left top quarter: `x` are their first four rows.
        #[inline]
        #[target_feature(enable = $features)]
        fn inverse_corner(x: [Vector; 4], flat: Option<Flat>) -> [Vector; 4] {
            pixels(short_pass::<18>(corner_pass(x, flat)))
        }

        /// Transposes the 8x8 values of each block.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose(r: [Vector; 8]) -> [Vector; 8] {
            let a: [Vector; 4] = std::array::from_fn(|i| low_16(r[2 * i], r[2 * i + 1]));
            let b: [Vector; 4] = std::array::from_fn(|i| high_16(r[2 * i], r[2 * i + 1]));
            let (c0, c1) = (low_32(a[0], a[1]), high_32(a[0], a[1]));
            let (c2, c3) = (low_32(a[2], a[3]), high_32(a[2], a[3]));
            let (d0, d1) = (low_32(b[0], b[1]), high_32(b[0], b[1]));
            let (d2, d3) = (low_32(b[2], b[3]), high_32(b[2], b[3]));
            [
                low_64(c0, c2),
                high_64(c0, c2),
                low_64(c1, c3),
                high_64(c1, c3),
                low_64(d0, d2),
                high_64(d0, d2),
                low_64(d1, d3),
                high_64(d1, d3),
            ]
        }

        /// Transforms dequantised rows to rows of bytes: each lane of the results holds two rows of its block. In
        /// the blocks that `flat` names, which have nothing below the first row, the first pass is libjpeg-turbo's
        /// shortcut: it wraps where the full transform would saturate.
        #[inline]
        #[target_feature(enable = $features)]
        fn inverse(x: [Vector; 8], flat: Option<Flat>) -> [Vector; 4] {
            let mut columns = pass::<11>(x);
            if let Some(flat) = flat {
                let wrapped = shift_left_16(x[0], _mm_cvtsi32_si128(2));
                for column in &mut columns {
                    *column = choose(*column, wrapped, flat);
                }
            }
            pixels(pass::<18>(transpose(columns)))
        }

        /// Shifts the level of columns and transposes them to rows of bytes, two in each lane of the results.
        #[inline]
        #[target_feature(enable = $features)]
        fn pixels(c: [Vector; 8]) -> [Vector; 4] {
            let packed = |i: usize, j: usize| add_8(pack_16(c[i], c[j]), set1_8(-128));
            let (a, b, c, d) = (packed(0, 2), packed(1, 3), packed(4, 6), packed(5, 7));
            let (ab, cd) = (low_8(a, b), low_8(c, d));
            let (ab2, cd2) = (high_8(a, b), high_8(c, d));
            let (low, high) = (low_16(ab, ab2), high_16(ab, ab2));
            let (low2, high2) = (low_16(cd, cd2), high_16(cd, cd2));
            [low_32(low, low2), high_32(low, low2), low_32(high, high2), high_32(high, high2)]
        }
    };
}

pub(crate) use transform;
