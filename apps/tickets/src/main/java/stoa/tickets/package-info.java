/// A ticket shop: shared objects, and the Spring Boot application around them.
@NullMarked
package stoa.tickets;

import org.jspecify.annotations.NullMarked;
