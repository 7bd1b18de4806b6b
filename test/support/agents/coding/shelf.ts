import type { AttemptSessions, KeptRun } from '#shared/agents/agent-kind.ts';
import type { SessionNote } from '#shared/agents/command/kept/session-note.ts';

/** What runs leave, in memory. */
export class Shelf {
  note: SessionNote | null = null;
  archive = Buffer.alloc(0);
  isOfTask = false;
  kept = 0;
  isFull = false;

  readonly sessions: AttemptSessions = {
    open: () => Promise.resolve(this.note && this.#opened(this.note)),
    keep: async (note, archive) => {
      if (this.isFull) throw new Error('the storage is full');
      const pieces: Uint8Array[] = [];
      for await (const piece of archive) pieces.push(piece);
      [this.note, this.archive] = [note, Buffer.concat(pieces)];
      this.kept += 1;
    },
  };

  #opened(note: SessionNote): KeptRun {
    const { archive, isOfTask } = this;
    return {
      ...note,
      isOfTask,
      read: () =>
        Promise.resolve(
          archive.length === 0
            ? null
            : (async function* () {
                yield archive;
              })(),
        ),
    };
  }
}
