//! What most augmentations declare alike: methods that set arguments.

/// Declares methods that each set one argument and return the augmentation. `into` takes what becomes the argument's type, and
/// `some` sets an argument that may be absent.
macro_rules! setters {
    () => {};
    ($(#[doc = $doc:literal])+ $field:ident: some into $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $field(self, $field: impl Into<$type>) -> Self {
            Self { $field: Some($field.into()), ..self }
        }
        setters! { $($more)* }
    };
    ($(#[doc = $doc:literal])+ $field:ident: some $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $field(self, $field: $type) -> Self {
            Self { $field: Some($field), ..self }
        }
        setters! { $($more)* }
    };
    ($(#[doc = $doc:literal])+ $field:ident: into $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $field(self, $field: impl Into<$type>) -> Self {
            Self { $field: $field.into(), ..self }
        }
        setters! { $($more)* }
    };
    ($(#[doc = $doc:literal])+ $field:ident: $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $field(self, $field: $type) -> Self {
            Self { $field, ..self }
        }
        setters! { $($more)* }
    };
}
