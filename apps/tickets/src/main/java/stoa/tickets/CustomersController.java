package stoa.tickets;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/// Customers and their money over HTTP.
@RestController
@RequestMapping("/customers/{name}")
final class CustomersController {
  private final BoxOffice office;

  CustomersController(BoxOffice office) {
    this.office = office;
  }

  record Money(long cents) {}

  @GetMapping
  Money money(@PathVariable String name) {
    return new Money(office.cents(name));
  }

  @PostMapping("/deposits")
  Money deposit(@PathVariable String name, @RequestBody Money body) {
    return new Money(office.deposit(name, body.cents()));
  }
}
