//! A scenario: a sentence, a function that shows whether it is true, and what it needs.

/// What a scenario returns. An error is one that the program under test reported as it should.
pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// All scenarios. Whoever adds some adds a file with a `SCENARIOS` of its own and a line here.
const TABLES: &[&[Scenario]] = &[
    crate::captures::SCENARIOS,
    crate::decoding::SCENARIOS,
    crate::dispatch::SCENARIOS,
    crate::driver_calls::SCENARIOS,
    crate::engines::SCENARIOS,
    crate::faults::SCENARIOS,
    crate::gpu_use::SCENARIOS,
    crate::kernels::SCENARIOS,
    crate::libraries::SCENARIOS,
    crate::limits::SCENARIOS,
    crate::memory::SCENARIOS,
    crate::object_masks::SCENARIOS,
    crate::ordering::SCENARIOS,
    crate::own_decoder::SCENARIOS,
    crate::measured::SCENARIOS,
    crate::packed::SCENARIOS,
    crate::parallel::SCENARIOS,
    crate::parity::SCENARIOS,
    crate::pasting::SCENARIOS,
    crate::pinning::SCENARIOS,
    crate::pipeline::SCENARIOS,
    crate::planted::SCENARIOS,
    crate::probe::SCENARIOS,
    crate::refused::SCENARIOS,
    crate::sharing::SCENARIOS,
    crate::sizes::SCENARIOS,
    crate::staging::SCENARIOS,
    crate::tensors::SCENARIOS,
    #[cfg(feature = "tch")]
    crate::torch::SCENARIOS,
    crate::verification::SCENARIOS,
    crate::views::SCENARIOS,
    crate::wild_records::SCENARIOS,
];

pub(crate) fn all() -> impl Iterator<Item = &'static Scenario> {
    TABLES.iter().copied().flatten()
}

/// How a scenario ends when all is well.
#[derive(Clone, Copy)]
pub(crate) enum Expect {
    /// Without an error in every mode, and without a word from the double or a sanitizer.
    Clean,
    /// The scenario holds a mistake on purpose: in at least one mode somebody must say one of these words.
    Caught(&'static [&'static str]),
}

/// Which simulated libraries there are.
#[derive(Clone, Copy)]
pub(crate) enum Libraries {
    /// All three, with all functions.
    Whole,
    /// All three, without the function of this name.
    Without(&'static str),
    /// The driver, and nothing in nvJPEG's place.
    DriverOnly,
    /// The driver, and nvJPEG in wheels: NVIDIA's own and torchvision's, in the folder that `FEEDLINE_TEST_WHEELS` names.
    Wheels,
    /// None: a file that is no library lies in the driver's place, and nothing in nvJPEG's.
    None,
}

/// In how many of the wanted random orders of the device's work a scenario runs; in one at least, if any is wanted.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Orders {
    All,
    OneInFour,
    OneInEight,
}

impl Orders {
    pub(crate) const fn of(self, seeds: u64) -> u64 {
        match self {
            Self::All => seeds,
            Self::OneInFour => seeds.div_ceil(4),
            Self::OneInEight => seeds.div_ceil(8),
        }
    }
}

/// Of several cases of one thing those whose turn it is. A random order of the device's work takes one of them, the next
/// order the next one; the orderly modes and a GPU take all.
pub(crate) fn in_turn<T>(cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut cases: Vec<T> = cases.into_iter().collect();
    let words = std::env::var("FAKECUDA").unwrap_or_default();
    let seed = words.split(',').find_map(|word| word.strip_prefix("seed=")?.parse::<usize>().ok());
    if let (Some(seed), true) = (seed, words.starts_with("mode=random")) {
        let at = seed % cases.len();
        cases = cases.into_iter().skip(at).take(1).collect();
    }
    cases
}

/// One row of the table.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) run: fn() -> Outcome,
    pub(crate) expect: Expect,
    pub(crate) libraries: Libraries,
    /// Further words for FAKECUDA, each with a comma ahead.
    pub(crate) driver: &'static str,
    /// Words for FAKENVJPEG.
    pub(crate) nvjpeg: &'static str,
    /// The GPUs of FAKENVML.
    pub(crate) nvml: &'static str,
    /// Whether only a build that watches memory can show it, so not that with ThreadSanitizer.
    pub(crate) watches_memory: bool,
    /// In how many random orders of the device's work it runs.
    pub(crate) orders: Orders,
    /// Whether it may run on a GPU too.
    pub(crate) on_gpu: bool,
    /// Whether every call and operation of it is made to fail once.
    pub(crate) swept: bool,
    /// Whether it is about nvJPEG, or about how many copies or how much memory a batch takes with it, so that it says nothing
    /// where another decoder takes its place.
    pub(crate) is_of_nvjpeg: bool,
}

impl Scenario {
    /// A scenario that must end without an error in every mode.
    pub(crate) const fn new(name: &'static str, run: fn() -> Outcome) -> Self {
        Self {
            name,
            run,
            expect: Expect::Clean,
            libraries: Libraries::Whole,
            driver: "",
            nvjpeg: "",
            nvml: "",
            watches_memory: false,
            orders: Orders::All,
            on_gpu: false,
            swept: false,
            is_of_nvjpeg: false,
        }
    }

    /// It holds a mistake, which must be noticed with one of these words.
    pub(crate) const fn caught(self, words: &'static [&'static str]) -> Self {
        Self { expect: Expect::Caught(words), ..self }
    }

    /// Only a build that watches memory can show it.
    pub(crate) const fn watches_memory(self) -> Self {
        Self { watches_memory: true, ..self }
    }

    /// It is about what is decided and said, or compares so much that one order of the device's work has to do.
    pub(crate) const fn decides(self) -> Self {
        Self { orders: Orders::OneInEight, ..self }
    }

    /// Its pictures are large or many, and the order of work much like that of another scenario.
    pub(crate) const fn weighty(self) -> Self {
        Self { orders: Orders::OneInFour, ..self }
    }

    /// Further words for FAKECUDA, such as `",devices=0"`.
    pub(crate) const fn driver(self, driver: &'static str) -> Self {
        Self { driver, ..self }
    }

    /// Words for FAKENVJPEG, such as `"hardware=0"`.
    #[allow(dead_code, reason = "for scenarios that decode")]
    pub(crate) const fn nvjpeg(self, nvjpeg: &'static str) -> Self {
        Self { nvjpeg, ..self }
    }

    /// GPUs for FAKENVML, such as `"a,busy=50;b"`.
    pub(crate) const fn nvml(self, nvml: &'static str) -> Self {
        Self { nvml, ..self }
    }

    /// The simulated libraries that there are.
    pub(crate) const fn libraries(self, libraries: Libraries) -> Self {
        Self { libraries, ..self }
    }

    /// It runs on a GPU too, where there is one.
    #[allow(dead_code, reason = "for scenarios that use the library and not the double alone")]
    pub(crate) const fn on_gpu(self) -> Self {
        Self { on_gpu: true, ..self }
    }

    /// It is about nvJPEG.
    pub(crate) const fn of_nvjpeg(self) -> Self {
        Self { is_of_nvjpeg: true, ..self }
    }

    /// Every call and operation of it is made to fail once.
    pub(crate) const fn swept(self) -> Self {
        Self { swept: true, ..self }
    }
}
