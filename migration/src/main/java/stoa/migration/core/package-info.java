/// The self-service protocol as pure cores: a node of the tree takes events and returns effects,
/// and a model of costs decides on which side the calls of an object run.
@org.jspecify.annotations.NullMarked
package stoa.migration.core;
