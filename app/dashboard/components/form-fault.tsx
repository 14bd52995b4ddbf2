import { describeError, findField } from '../query-client';

/** Why the server refused a form as a whole. Errors that name a field show below that field. */
export function FormFault({ error }: { error: unknown }) {
  if (!error || findField(error) !== null) return null;
  return (
    <p role="alert" className="text-danger">
      {describeError(error)}
    </p>
  );
}
