//! The inverse DCT of as many blocks as a register has 128-bit lanes: written once, built for two widths.
//!
//! Every operation stays within its lane, so the width does not matter. The including file names its vector type
//! `Vector` and imports its instructions under the short names used here.

/// Defines `inverse` with what it needs, for the given target features.
macro_rules! transform {
    ($features:literal) => {
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
            let (none, three) = (zero(), _mm_cvtsi32_si128(3));
            let round = set1_32(1 << (SHIFT - 1));
            let low = shift_right_32(low_16(none, sum), three);
            let high = shift_right_32(high_16(none, sum), three);
            Wide(add_32(low, round), add_32(high, round))
        }

        /// The one-dimensional transform of `idct::one_dimension`, for all columns of all blocks.
        #[inline]
        #[target_feature(enable = $features)]
        fn pass<const SHIFT: i32>(x: [Vector; 8]) -> [Vector; 8] {
            let two_six = Pairs::new(x[2], x[6]);
            let (t2, t3) = (two_six.dot(4433, -10704), two_six.dot(10703, 4433));
            let t0 = scaled::<SHIFT>(add_16(x[0], x[4]));
            let t1 = scaled::<SHIFT>(sub_16(x[0], x[4]));
            let even = [t0.add(t3), t1.add(t2), t1.sub(t2), t0.sub(t3)];
            let sums = Pairs::new(add_16(x[7], x[3]), add_16(x[5], x[1]));
            let (z3, z4) = (sums.dot(-6436, 9633), sums.dot(9633, 6437));
            let seven_one = Pairs::new(x[7], x[1]);
            let five_three = Pairs::new(x[5], x[3]);
            let odd = [
                seven_one.dot(-7373, 4926).add(z4),
                five_three.dot(-20995, 4177).add(z3),
                five_three.dot(-4176, -20995).add(z4),
                seven_one.dot(-4927, -7373).add(z3),
            ];
            [
                even[0].add(odd[0]).descale::<SHIFT>(),
                even[1].add(odd[1]).descale::<SHIFT>(),
                even[2].add(odd[2]).descale::<SHIFT>(),
                even[3].add(odd[3]).descale::<SHIFT>(),
                even[3].sub(odd[3]).descale::<SHIFT>(),
                even[2].sub(odd[2]).descale::<SHIFT>(),
                even[1].sub(odd[1]).descale::<SHIFT>(),
                even[0].sub(odd[0]).descale::<SHIFT>(),
            ]
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
            let c = pass::<18>(transpose(columns));
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

pub(super) use transform;
