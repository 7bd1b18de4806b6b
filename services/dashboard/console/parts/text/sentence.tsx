import { Fragment, type ReactElement } from 'react';
import { ClockTime } from '../time.tsx';
import { splitAtTimes } from './times-in-text.ts';

/** A sentence of the server, with its times in this browser's zone and what is between backticks as code. */
export function Sentence({ text }: { text: string }): ReactElement {
  return (
    <>
      {splitAtTimes(text).map((part, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- the parts of one text never change places
        <Fragment key={at}>{typeof part === 'string' ? <Words text={part} /> : <ClockTime at={part.at} />}</Fragment>
      ))}
    </>
  );
}

const CODE = /`([^`]+)`/;

function Words({ text }: { text: string }): ReactElement {
  // Every second part was between backticks.
  return (
    <>
      {text.split(CODE).map((part, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- the parts of one text never change places
        <Fragment key={at}>{at % 2 === 0 ? part : <code>{part}</code>}</Fragment>
      ))}
    </>
  );
}
