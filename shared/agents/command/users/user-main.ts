import { createReadStream } from 'node:fs';
import { chdir } from 'node:process';
import { createInterface } from 'node:readline';
import { clearFolder } from '../folder/clear-folder.ts';
import { OutputFiles } from '../folder/output-files.ts';
import { KeptFiles } from '../kept/kept-files.ts';
import { unpackKept } from '../kept/unpack-kept.ts';
import { encodeFrame, type Frame, type UserRequest } from './user-frames.ts';

// A process that works in an attempt's folder with no more rights than the attempt's program. It starts as root, because that user may not be
// able to read this code or to reach the folder, and gives up all rights before it looks at anything.

const [uid = 0, gid = 0] = process.argv.slice(2, 4).map(Number);
const [folder = '', output = '', ...cleared] = process.argv.slice(4);
// Root alone can change what is above the folder.
chdir(folder);
process.setgroups?.([]);
process.setgid?.(gid);
process.setuid?.(uid);
if (uid <= 0 || process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid) process.exit(1);

const files = new OutputFiles(output);
const kept = new KeptFiles();
let archive = kept.pack();

async function answer(request: UserRequest): Promise<Frame> {
  switch (request.kind) {
    case 'list':
      return json(await files.list());
    case 'read':
      return { kind: 'bytes', payload: await files.read(request.index, request.offset, request.maxBytes) };
    case 'list-kept':
      return json(await kept.list(request.places));
    case 'pack-kept':
      return { kind: 'bytes', payload: await nextPiece(request.isFirst) };
    case 'unpack-kept':
      return json(await unpackKept(createReadStream(request.archive), request.places));
    case 'clear':
      for (const name of cleared) await clearFolder(name);
      return json(null);
  }
}

async function nextPiece(isFirst: boolean): Promise<Buffer<ArrayBuffer>> {
  if (isFirst) {
    await archive.return(undefined);
    archive = kept.pack();
  }
  const piece = await archive.next();
  return piece.done === true ? Buffer.alloc(0) : Buffer.from(piece.value);
}

function json(value: unknown): Frame {
  return { kind: 'json', payload: Buffer.from(JSON.stringify(value ?? null)) };
}

for await (const line of createInterface(process.stdin)) {
  const request: UserRequest = JSON.parse(line);
  const frame = await answer(request).catch((error: unknown): Frame => {
    return { kind: 'failure', payload: Buffer.from(error instanceof Error ? error.message : String(error)) };
  });
  process.stdout.write(encodeFrame(frame));
}
