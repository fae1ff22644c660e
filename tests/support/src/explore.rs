//! Runs a test of threads by many orders of events; it is a model's, whose locks and threads are shuttle's.

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};

/// Runs `test` in so many orders at random, in as many with few but well-aimed changes of thread, and in the first
/// `in_turn` of all of them one after the other.
pub fn explore(orders: usize, in_turn: usize, test: fn()) {
    let run = |scheduler: Box<dyn Scheduler + Send>| {
        let mut config = shuttle::Config::new();
        config.stack_size = 1 << 18;
        shuttle::Runner::new(scheduler, config).run(test);
    };
    run(Box::new(RandomScheduler::new_from_seed(1, orders)));
    run(Box::new(PctScheduler::new_from_seed(2, 3, orders)));
    if in_turn > 0 {
        run(Box::new(DfsScheduler::new(Some(in_turn), false)));
    }
}
