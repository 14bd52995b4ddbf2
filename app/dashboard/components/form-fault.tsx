import { describeError, findField } from '../query-client';

/** Why a form was refused as a whole; what names a field is said below that field. */
export function FormFault({ error }: { error: unknown }) {
  if (!error || findField(error) !== null) return null;
  return (
    <p role="alert" className="text-danger">
      {describeError(error)}
    </p>
  );
}
