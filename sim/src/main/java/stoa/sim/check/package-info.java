/// Models of what is to be true, histories of what was seen, and checkers that compare them.
@org.jspecify.annotations.NullMarked
package stoa.sim.check;
