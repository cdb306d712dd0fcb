/// How transactions begin, and how several stores commit them together (`Prepared`).
package stoa.store.transactions;
