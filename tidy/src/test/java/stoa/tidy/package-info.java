/// Checks of what the compiler cannot check: that cores are pure, that arrows between modules point
/// downwards, and that documents are true.
///
/// A check is a class that reads the [Repository] and answers a list of problems, each a line that
/// names the place and the remedy. Its own test shows it something bad; [TidyTest] shows it this
/// repository.
@org.jspecify.annotations.NullMarked
package stoa.tidy;
