//! Batches on a device as torch's tensors, for a torch that has CUDA and for one that has not.

use crate::pictures;
use crate::pipeline::small;
use crate::scenario::{Outcome, Scenario};
use feedline::device::Device;
use feedline::error::Error;

pub(crate) const SCENARIOS: &[Scenario] =
    &[Scenario::new("torch shows what the batch holds, or says that it has no CUDA", shown_or_refused)
        .driver(",default_stream=1")
        .on_gpu()];

fn shown_or_refused() -> Outcome {
    let loader = small(pictures::few()).batch_size(1).prefetch(1).workers(1);
    let loader = loader.device(Device::Cuda { ordinal: 0 }).build()?;
    let has_cuda = tch::Cuda::is_available();
    for batch in loader.epoch(0) {
        let batch = batch?;
        let (want, address) = (batch.to_host()?, batch.on_device().map(|images| images.ptr() as usize));
        match batch.into_tch() {
            Ok(batch) => {
                assert!(has_cuda && Some(batch.images.data_ptr() as usize) == address);
                let copy = Vec::<f32>::try_from(batch.images.to_device(tch::Device::Cpu).flatten(0, -1))?;
                assert!(
                    bytemuck::cast_slice::<f32, u8>(&copy) == want,
                    "the copy is not what the batch holds"
                );
            }
            Err(error @ Error::Unavailable { .. }) => {
                assert!(!has_cuda && error.to_string().contains("link libtorch_cuda"), "{error}");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
