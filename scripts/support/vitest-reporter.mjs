// Vitest's report for `npm test`: names each test that failed as soon as it has, and at the end what was skipped and why, a line
// each, and `N passed, N failed`. Failures and errors are told in full by the reporter beside it.

const firstLine = (error) => `${error?.message ?? error}`.split('\n', 1)[0];
/** On a line of its own, behind the dots of another reporter. */
const tell = (name, error) => process.stdout.write(`\nfailed: ${name}: ${firstLine(error)}\n`);

export default class {
  #failed = 0;

  #fail(name, error) {
    this.#failed += 1;
    tell(name, error);
  }

  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state === 'failed') this.#fail(test.fullName, errors[0]);
  }

  onTestModuleEnd(module) {
    const [error] = module.errors();
    if (error !== undefined) this.#fail(module.relativeModuleId, error);
    for (const suite of module.children.allSuites()) {
      const [ofHook] = suite.errors();
      if (ofHook !== undefined) this.#fail(suite.fullName, ofHook);
    }
  }

  onTestRunEnd(modules, errors) {
    let passed = 0;
    for (const error of errors) this.#fail('outside a test', error);
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'pending') this.#fail(test.fullName, 'no result: its process has ended');
        else if (state === 'skipped' && process.env.TICKLESS_BRIEF !== 'yes')
          console.log(`skipped: ${test.fullName}: ${note ?? 'only elsewhere, as its name says'}`); // not what `--brief` leaves out
      }
    }
    console.log(`${passed} passed, ${this.#failed} failed`);
  }
}
