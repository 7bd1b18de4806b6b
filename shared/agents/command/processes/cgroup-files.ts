import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** False while a process is in it. */
export function removeCgroup(path: string): boolean {
  for (const folder of listFolders(path).toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      return !existsSync(path);
    }
  }
  return true;
}

/** It and those below it, from above. */
export function listFolders(path: string): string[] {
  return [path, ...readFolders(path).flatMap((name) => listFolders(join(path, name)))];
}

export function readFolders(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

export function readPids(folder: string): number[] {
  return readLines(join(folder, 'cgroup.procs'))
    .map(Number)
    .filter((pid) => pid > 0);
}

export function readField(path: string, name: string): number | undefined {
  const line = readLines(path).find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

export function readNumber(path: string): number | undefined {
  const text = read(path).trim();
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

export function readLines(path: string): string[] {
  return read(path)
    .split('\n')
    .filter((line) => line !== '');
}

export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whether the kernel took it. */
export function write(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch {
    return false;
  }
}
