//! How busy GPUs are, as the driver's NVML tells and `feedline doctor` says.

use crate::scenario::{Libraries, Outcome, Scenario};
use feedline::doctor::{GpuMemory, GpuMeter, GpuUse, gpu_use};
use std::process::Command;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("gpus: what each tells is possible", possible)
        .decides()
        .nvml("FAKE,busy=100,used=2048,total=2048")
        .on_gpu(),
    Scenario::new("gpus: what one does not tell is not made up, and one that is lost is left out", || {
        told(&[
            gpu(0, "FAKE whole", Some(0.43), Some((1024, 2048))),
            gpu(1, "FAKE divided", None, Some((1, 4096))),
            gpu(2, "FAKE integrated", Some(0.07), None),
            gpu(4, "FAKE last", Some(1.0), Some((5, 6))),
        ])
    })
    .decides()
    .nvml(
        "FAKE whole,busy=43,used=1024,total=2048;FAKE divided,used=1,total=4096;FAKE integrated,busy=7;\
         FAKE lost,busy=1,used=1,total=2,lost;FAKE last,busy=100,used=5,total=6",
    ),
    Scenario::new("gpus: an old driver does not tell their memory", || {
        told(&[gpu(0, "FAKE", Some(0.5), None)])
    })
    .decides()
    .libraries(Libraries::Without("nvmlDeviceGetMemoryInfo_v2"))
    .nvml("FAKE,busy=50,used=1,total=2"),
    Scenario::new("gpus: there are none where NVML does not start", || told(&[])).decides().nvml("init=9"),
    Scenario::new("gpus: a meter has the mean of its looks", metered)
        .decides()
        .nvml("FAKE,busy=0/70/30/0,used=1,total=2"),
    Scenario::new("gpus: the doctor says how busy they were beside a trainer that never waited", || {
        let said = doctor()?;
        let busy = said.split_once("gpu 0     FAKE whole was busy for ").map(|(_, rest)| rest);
        let busy = busy.and_then(|rest| rest.split_once(" % of the time; 1024 of 2048 MiB taken\n"));
        let percent = busy.map(|(percent, _)| percent.parse()).transpose()?;
        let note = format!(
            "note: no GPU was busy for more than {} % of the time, though the trainer did not wait for data: the rest is lost \
             in the training step, to Python, small kernels or synchronisation\n",
            percent.unwrap_or(0)
        );
        says((31..70).contains(&percent.unwrap_or(0)) && said.contains(&note), &said)
    })
    .decides()
    .nvml("FAKE whole,busy=30/70,used=1024,total=2048;FAKE idle,busy=0"),
    Scenario::new("gpus: nothing is concluded where one does not tell how busy it is", || {
        let said = doctor()?;
        let line = "gpu 1     FAKE divided does not tell how busy it is (one that is divided by MIG does not)\n";
        says(said.contains(line) && !said.contains("no GPU was busy"), &said)
    })
    .decides()
    .nvml("FAKE screen,busy=15;FAKE divided"),
];

/// With memory in MiB.
fn gpu(index: u32, name: &str, utilization: Option<f64>, memory: Option<(u64, u64)>) -> GpuUse {
    let memory = memory.map(|(used, total)| GpuMemory { used: used << 20, total: total << 20 });
    GpuUse { index, name: name.into(), utilization, memory }
}

fn told(wanted: &[GpuUse]) -> Outcome {
    says(gpu_use() == wanted, &gpu_use())
}

fn says(is_so: bool, found: &impl std::fmt::Debug) -> Outcome {
    if is_so { Ok(()) } else { Err(format!("{found:#?}").into()) }
}

fn possible() -> Outcome {
    let gpus = gpu_use();
    let is_possible = |gpu: &GpuUse| {
        !gpu.name.is_empty()
            && gpu.utilization.is_none_or(|busy| (0.0..=1.0).contains(&busy))
            && gpu.memory.is_none_or(|memory| memory.used <= memory.total)
    };
    says(!gpus.is_empty() && gpus.iter().all(is_possible), &gpus)
}

fn metered() -> Outcome {
    let mut meter = GpuMeter::default();
    let counts = [0; 4].map(|_| meter.look());
    let wanted = [gpu(0, "FAKE", Some(0.25), Some((1, 2)))];
    says(counts == [1; 4] && meter.mean() == wanted, &meter)
}

/// What the command says beside a trainer of 0.2 s a step.
fn doctor() -> Result<String, Box<dyn std::error::Error>> {
    let told = ["--seconds", "1", "--batch-size", "1", "--device", "cpu", "--no-alternatives"];
    let output = Command::new(env!("CARGO_BIN_EXE_feedline"))
        .args(["doctor", "data/photos", "--trainer", "while true; do sleep 0.2; echo step; done"])
        .args(told)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.success() && output.stderr.is_empty() {
        true => Ok(said),
        false => Err(said.into()),
    }
}
