@org.jspecify.annotations.NullMarked
package stoa.wire;
