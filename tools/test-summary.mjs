// A vitest reporter that writes how many tests passed, each failed test with the first lines of its error, each skipped
// test with its reason, and how long each file took, to the file named by DORMOUSE_TEST_SUMMARY. A reason is the test's
// own text: `context.skip('no Kafka on this machine')`.
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

export default class TestSummary {
  onTestRunEnd(testModules, unhandledErrors) {
    const loose = unhandledErrors.map((error) => ({
      name: 'an error outside every test',
      reason: firstLines([error]),
    }));
    const summary = { passed: 0, failed: loose, skipped: [], files: [] };
    for (const testModule of testModules) {
      const file = testModule.relativeModuleId;
      const failed = [];
      summary.files.push({ file, ms: Math.round(testModule.diagnostic().duration) });
      for (const test of testModule.children.allTests()) {
        const result = test.result();
        const name = `${file} > ${test.fullName}`;
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed') failed.push({ name, reason: firstLines(result.errors) });
        else summary.skipped.push({ name, reason: reasonOf(test, result) });
      }
      // A file that did not load, or a hook that threw outside any test, has failed without a failed test.
      if (failed.length === 0 && !testModule.ok())
        failed.push({ name: file, reason: firstLines(errorsOutside(testModule)) });
      summary.failed.push(...failed);
    }
    writeFileSync(process.env.DORMOUSE_TEST_SUMMARY, JSON.stringify(summary));
  }
}

function errorsOutside(testModule) {
  const suites = [...testModule.children.allSuites()];
  return [testModule, ...suites].flatMap((owner) => owner.errors());
}

/** At most three lines of the first error: what was expected, without the stack. */
function firstLines(errors) {
  const [error] = errors;
  if (error === undefined) return 'it does not say why';
  return stripVTControlCharacters(error.message ?? String(error))
    .split('\n')
    .slice(0, 3)
    .join('\n  ');
}

function reasonOf(test, result) {
  if (result.note) return result.note;
  return result.state === 'pending' ? 'it never ran' : `no reason given, mode ${test.options.mode}`;
}
