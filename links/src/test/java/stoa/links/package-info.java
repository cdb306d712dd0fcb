@org.jspecify.annotations.NullMarked
package stoa.links;
