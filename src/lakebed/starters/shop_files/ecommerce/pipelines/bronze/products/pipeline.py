# @description: what the shop sells
# @tags: shop
from pyspark.sql import functions as f


def run(spark, context):
    products = context.landing_zone("products")
    return products.select(
        f.col("product_id").cast("bigint").alias("product_id"),
        "name",
        "category",
        f.col("price").cast("decimal(12,2)").alias("price"),
    )
