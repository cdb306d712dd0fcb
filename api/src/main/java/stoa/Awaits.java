package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a method that may wait for a condition of its object, by [Call#await].
///
/// Before each run of such a method the store keeps what it needs to undo the run: a fork of an
/// object that is [stoa.spi.Forkable], and otherwise the encoded state. So a class with a large
/// state and with such methods should be forkable.
///
/// The method changes its object: it is neither [Accessor] nor [Transactional].
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Awaits {}
