// Vitest's report for `npm test`: names what was skipped and why, and ends with `N passed, N failed`. Failures and errors
// are told by the reporter beside it.

export default class {
  onTestRunEnd(modules, errors) {
    const count = { passed: 0, failed: errors.length };
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state === 'passed' || state === 'failed') count[state] += 1;
        else console.log(`skipped: ${test.fullName}: ${note ?? 'only elsewhere, as its name says'}`);
      }
    }
    console.log(`${count.passed} passed, ${count.failed} failed`);
  }
}
