import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const LISTED = 10;

/** Ends a run of many files with the ten that took longest, imports and hooks included. */
export class SlowFilesReporter implements Reporter {
  #root = process.cwd();

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= LISTED) return;
    const files = modules.map((module) => ({ file: relative(this.#root, module.moduleId), ms: millisecondsOf(module) }));
    const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, LISTED);
    const lines = slowest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${file}\n`);
    writeSync(1, `\nThe slowest files:\n${lines.join('')}`);
  }
}

function millisecondsOf(module: TestModule): number {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return prepareDuration + setupDuration + collectDuration + duration;
}
