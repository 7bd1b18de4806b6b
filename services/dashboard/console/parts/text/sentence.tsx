import { Fragment, type ReactElement } from 'react';
import { ClockTime } from '../time.tsx';
import { splitAtTimes } from './times-in-text.ts';

/** A sentence of the server, with its times in this browser's zone. */
export function Sentence({ text }: { text: string }): ReactElement {
  return (
    <>
      {splitAtTimes(text).map((part, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- the parts of one text never change places
        <Fragment key={at}>{typeof part === 'string' ? part : <ClockTime at={part.at} />}</Fragment>
      ))}
    </>
  );
}
