// Vitest's report for `npm test`: names what was skipped and why, and what failed, a line each, and ends with
// `N passed, N failed`. Failures and errors are told in full by the reporter beside it.

const firstLine = (error) => `${error?.message ?? error}`.split('\n', 1)[0];

export default class {
  onTestRunEnd(modules, errors) {
    const count = { passed: 0, failed: errors.length };
    for (const error of errors) console.log(`failed: outside a test: ${firstLine(error)}`);
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) {
        count.failed += 1;
        console.log(`failed: ${module.relativeModuleId}: ${firstLine(module.errors()[0])}`);
      }
      for (const test of module.children.allTests()) {
        const { state, note, errors: reasons } = test.result();
        if (state === 'failed') console.log(`failed: ${test.fullName}: ${firstLine(reasons[0])}`);
        if (state === 'passed' || state === 'failed') count[state] += 1;
        else if (process.env.TICKLESS_BRIEF !== 'yes')
          console.log(`skipped: ${test.fullName}: ${note ?? 'only elsewhere, as its name says'}`); // not what `--brief` leaves out
      }
    }
    console.log(`${count.passed} passed, ${count.failed} failed`);
  }
}
