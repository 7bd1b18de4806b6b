import { openAsBlob } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { CliProblem, EXIT } from '../cli-problem.ts';
import { readAnswer, type ApiClient } from '../client/api-client.ts';
import { oneLine } from '../output/terminal.ts';

export function attachOption(): Option {
  return new Option('--attach <file>', 'a file for the agent; repeatable').argParser(addPath);
}

function addPath(path: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), path];
}

/** An entry of a task's `attachments`. */
export interface Attached {
  uploadId: string;
}

const uploadSchema = z.object({ id: z.string() });

/** Uploads the files one after the other, none unless all can be read. Errors: a `CliProblem` that names the file. */
export async function uploadFiles(api: ApiClient, paths: readonly string[]): Promise<Attached[]> {
  for (const path of paths) await assertReadable(path);
  const attached: Attached[] = [];
  for (const path of paths) attached.push({ uploadId: await uploadFile(api, path) });
  return attached;
}

async function uploadFile(api: ApiClient, path: string): Promise<string> {
  const name = basename(path);
  // Loaded for files only: other commands start sooner without it.
  const { mediaTypeOfName } = await import('#shared/files/index.ts');
  // Its bytes are read while they are sent, so that a large file needs no memory.
  const file = await openAsBlob(path, { type: mediaTypeOfName(name) });
  try {
    return readAnswer(uploadSchema, await api.upload('/v1/uploads', { name }, file)).id;
  } catch (error) {
    throw error instanceof CliProblem ? withFile(error, path, file.size) : error;
  }
}

/** The server does not know the path, which tells apart the files of one command. */
function withFile({ message, exitCode, code, lines, cause }: CliProblem, path: string, bytes: number): CliProblem {
  const isTooLarge = code === 'request.too-large';
  const size = isTooLarge ? ` is too large with ${bytes} bytes` : ' was not uploaded';
  return new CliProblem(`${oneLine(path, MAX_PATH)}${size}: ${message}`, {
    exitCode,
    ...(code === undefined ? {} : { code }),
    lines,
    cause,
  });
}

const MAX_PATH = 500;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read',
  EPERM: 'it may not be read',
};

async function assertReadable(path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw unusable(path, found.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    await access(path, constants.R_OK);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error instanceof CliProblem) throw error;
    throw unusable(path, REASONS[String(error.code)] ?? error.message, error);
  }
}

function unusable(path: string, reason: string, cause?: Error): CliProblem {
  return new CliProblem(`Cannot attach ${oneLine(path, MAX_PATH)}: ${reason}`, { exitCode: EXIT.usage, code: 'file.unusable', cause });
}
