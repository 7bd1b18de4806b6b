import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from './repository.ts';

/** What a document of Kubernetes says that it is. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

/** A class of `kubernetes-models`, made of the schemas that Kubernetes publishes. */
type Model = new (data: object) => { validate: () => void };

/** Below the repository, so that `kubernetes-models` is found. */
const DRAFTS = inRepository('node_modules/.cache/kubernetes-schemas');

const COMPILER_OPTIONS = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  target: 'es2024',
  module: 'nodenext',
  moduleDetection: 'force',
  types: [],
};

/**
 * What a strict API server would refuse: fields that there are not, values of another type, format or set, and fields that have to be there. The
 * types of `kubernetes-models` know each field, its validators each format; neither knows all. One line for each problem.
 */
export async function strictProblems(resources: readonly Resource[]): Promise<string[]> {
  const [fields, values] = await Promise.all([fieldProblems(resources), Promise.all(resources.map(valueProblems))]);
  return [...fields, ...values.flat()];
}

/** Of those that come by operators the packages are others. */
const OF_OPERATORS: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};
const moduleOf = ({ apiVersion }: Resource): string =>
  `${OF_OPERATORS[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models'}/${apiVersion}`;

const nameOf = ({ kind, metadata }: Resource): string => `${kind} ${metadata.name}`;

async function valueProblems(resource: Resource): Promise<string[]> {
  const models = (await import(/* @vite-ignore */ moduleOf(resource)).catch(() => ({}))) as Record<string, Model>;
  const ModelOfKind = models[resource.kind];
  if (ModelOfKind === undefined) return [`${nameOf(resource)}: there is no schema for ${resource.apiVersion} ${resource.kind}`];
  try {
    new ModelOfKind(resource).validate();
    return [];
  } catch (error) {
    return [`${nameOf(resource)}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** The compiler refuses in a literal what its type does not have. */
async function fieldProblems(resources: readonly Resource[]): Promise<string[]> {
  mkdirSync(DRAFTS, { recursive: true });
  const folder = mkdtempSync(join(DRAFTS, 'draft-'));
  try {
    const files = resources.map((_resource, index) => `r${index}.ts`);
    for (const [index, resource] of resources.entries()) {
      const type = `import('${moduleOf(resource)}').I${resource.kind}`;
      writeFileSync(join(folder, files[index] ?? ''), `export const resource: ${type} = ${JSON.stringify(resource, null, 1)};\n`);
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files }));
    const shown = await outputOf([inRepository('node_modules/typescript/bin/tsc'), '--pretty', 'false'], folder);
    const lines = shown.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => line.replace(/^r(\d+)\.ts/, (_all, index: string) => nameOf(resources[Number(index)]!)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(args: string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd }, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}
