/** The answer to a lone edit. @throws its error. */
export function only<A>([answer]: readonly (A | Error)[]): A {
  if (answer instanceof Error) throw answer;
  return answer as A;
}
