//! The product block of a purchase, one schema for each product, so that generated types know which fields it has.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Discriminator, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type},
};

use vend::Product;

/// What was bought, told apart by `type`.
pub struct PurchasedProduct;

impl PartialSchema for PurchasedProduct {
    fn schema() -> RefOr<Schema> {
        let mapping = Product::ALL
            .map(|product| (product.as_str(), format!("#/components/schemas/{}", name_of(product))));
        Product::ALL
            .into_iter()
            .fold(OneOfBuilder::new(), |one, product| one.item(Ref::from_schema_name(name_of(product))))
            .discriminator(Some(Discriminator::with_mapping("type", mapping)))
            .description(Some("What was bought. Branch on `type` before you read the rest."))
            .into()
    }
}

impl ToSchema for PurchasedProduct {
    fn name() -> Cow<'static, str> {
        "PurchasedProduct".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.extend(Product::ALL.map(|product| (name_of(product).to_owned(), block(product).into())));
    }
}

const fn name_of(product: Product) -> &'static str {
    match product {
        Product::Electricity => "PurchasedElectricity",
        Product::Airtime => "PurchasedAirtime",
        Product::Water => "PurchasedWater",
    }
}

fn block(product: Product) -> ObjectBuilder {
    let text = |description| ObjectBuilder::new().schema_type(Type::String).description(Some(description));
    let kind = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([product.as_str()]));
    let block = ObjectBuilder::new()
        .property("type", kind)
        .required("type")
        .property("provider", text("The provider's code."))
        .required("provider");
    match product {
        Product::Electricity => block
            .property("token", text(TOKEN))
            .property("units", text("A number and its unit, such as `53.2 kWh`."))
            .description(Some("Electricity. A successful purchase always has a token.")),
        Product::Water => block
            .property("token", text(TOKEN))
            .property("units", text("A number and its unit, such as `120 L`."))
            .description(Some("Water. Without a token, the customer's account was credited.")),
        Product::Airtime => {
            block.description(Some("Airtime. The SIM is credited, so there is neither token nor units."))
        }
    }
}

const TOKEN: &str = "One bare token, or several as `Description: Token`, separated by `|`, to be entered in that order. \
    The descriptions are the provider's own. It is there after a success.";
