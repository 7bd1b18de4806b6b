import { writeSync } from 'node:fs';
import { basename } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run of the scenarios with a table: each promise (a scenario's file is named after it) and which of its statements held. */
export class ChaosReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules
      .toSorted((a, b) => a.moduleId.localeCompare(b.moduleId))
      .map((module) => `\n${basename(module.moduleId, '.test.ts').replaceAll('-', ' ')}\n${statementsOf(module).join('\n')}\n`);
    writeSync(1, `${lines.join('')}\n`);
  }
}

function statementsOf(module: TestModule): string[] {
  return [...module.children.allTests()].map((test) => {
    const seconds = ((test.diagnostic()?.duration ?? 0) / 1000).toFixed(1);
    return `  ${test.result().state.padEnd(8)}${test.fullName} (${seconds} s)`;
  });
}
