// A vitest reporter that writes counts, and each skipped test with its reason, to the file named by DORMOUSE_TEST_SUMMARY.
// A reason is what the test said: `context.skip('no Kafka on this machine')`.
import { writeFileSync } from 'node:fs';

export default class TestSummary {
  onTestRunEnd(testModules, unhandledErrors) {
    const summary = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const testModule of testModules) {
      let failedTests = 0;
      for (const test of testModule.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed') failedTests += 1;
        else
          summary.skipped.push({
            name: `${testModule.relativeModuleId} > ${test.fullName}`,
            reason: reasonOf(test, result),
          });
      }
      // A file that did not load, or a hook that threw outside any test, has failed without a failed test.
      summary.failed += failedTests > 0 || testModule.ok() ? failedTests : 1;
    }
    writeFileSync(process.env.DORMOUSE_TEST_SUMMARY, JSON.stringify(summary));
  }
}

function reasonOf(test, result) {
  if (result.note) return result.note;
  return result.state === 'pending' ? 'it never ran' : `no reason given, mode ${test.options.mode}`;
}
