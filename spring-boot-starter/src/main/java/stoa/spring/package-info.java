/// Stoa in a Spring Boot application. [stoa.spring.StoaAutoConfiguration] makes the beans;
/// [stoa.spring.StoaProperties] names the properties.
@NullMarked
package stoa.spring;

import org.jspecify.annotations.NullMarked;
