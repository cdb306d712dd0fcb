/// Models of the correct behavior, histories of the observed one, and checkers that compare them.
@org.jspecify.annotations.NullMarked
package stoa.sim.check;
