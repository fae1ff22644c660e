//! What augmentations and options of sources declare alike: methods that set one value.

/// Declares methods that each set one field, or the field `in` a field, and return the rest as it was. `into` takes what becomes
/// the field's type, and `some` sets a field that may be absent.
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
    ($(#[doc = $doc:literal])+ $name:ident in $($field:ident).+: some into $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $name(mut self, $name: impl Into<$type>) -> Self {
            self.$($field).+ = Some($name.into());
            self
        }
        setters! { $($more)* }
    };
    ($(#[doc = $doc:literal])+ $name:ident in $($field:ident).+: some $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = Some($name);
            self
        }
        setters! { $($more)* }
    };
    ($(#[doc = $doc:literal])+ $name:ident in $($field:ident).+: into $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $name(mut self, $name: impl Into<$type>) -> Self {
            self.$($field).+ = $name.into();
            self
        }
        setters! { $($more)* }
    };
    ($(#[doc = $doc:literal])+ $name:ident in $($field:ident).+: $type:ty; $($more:tt)*) => {
        $(#[doc = $doc])+
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name;
            self
        }
        setters! { $($more)* }
    };
}
