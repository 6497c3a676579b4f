"""Starting Spark: Java, jars, the JVM, the archive of its classes."""
