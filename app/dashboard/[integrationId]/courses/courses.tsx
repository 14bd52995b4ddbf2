'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import type { Course } from '../../../../contract/courses';
import { ButtonLink } from '../../components/button';
import { Count } from '../../components/count';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, ListWithDetails } from '../../components/details-panel';
import { OpenById } from '../../components/open-by-id';
import { PageHeader } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { ScoreBar } from '../../components/score-bar';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { CourseFacts } from './course-facts';

const COLUMNS: Column<Course>[] = [
  {
    key: 'name',
    name: 'Name',
    cell: ({ name }) => <span className="block max-w-52 truncate font-medium">{name}</span>,
  },
  {
    key: 'url',
    name: 'Address',
    from: 'md',
    cell: ({ url }) => (
      <span className="block max-w-80 truncate text-muted" title={url}>
        {url.replace(/^https?:\/\//, '')}
      </span>
    ),
  },
  {
    key: 'average',
    name: 'Average',
    from: 'sm',
    width: '1%',
    cell: ({ averageBotScore }) => <ScoreBar score={averageBotScore} level={null} />,
  },
  { key: 'sessions', name: 'Sessions', isNumber: true, cell: ({ sessionCount }) => <Count value={sessionCount} /> },
  {
    key: 'bots',
    name: 'Bots',
    from: 'sm',
    isNumber: true,
    cell: ({ botSessionCount }) => <Count value={botSessionCount} />,
  },
  { key: 'users', name: 'Users', from: 'sm', isNumber: true, cell: ({ userCount }) => <Count value={userCount} /> },
  {
    key: 'seen',
    name: 'Last seen',
    from: 'sm',
    isNumber: true,
    width: '1%',
    cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
  },
];

/** The courses that have sessions, with a panel for the selected one. */
export function Courses() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection();
  const query = useInfiniteQuery(trpc.courses.list.infiniteQueryOptions({}, PAGES));
  const list = listRows(query);
  const hrefOf = ({ id }: Course) => `${base}/courses/${encodeURIComponent(id)}`;
  return (
    <>
      <PageHeader title="Courses" about="Found in the URLs of sessions, sorted by id.">
        <OpenById label="Course id" base={`${base}/courses`} />
      </PageHeader>
      <ListWithDetails
        list={
          <DataTable
            caption="Courses"
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            rowHref={hrefOf}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            onOpen={(course) => router.push(hrefOf(course))}
            empty={
              <EmptyState title="No courses yet">
                <p>
                  A course appears here once a session began on one of its pages. Addresses of Canvas, Moodle,
                  Blackboard, Brightspace, Schoology and Open edX are understood.
                </p>
              </EmptyState>
            }
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          selected && (
            <CoursePanel
              key={selected}
              courseId={selected}
              listed={list.rows?.find(({ id }) => id === selected)}
              base={base}
              onClose={() => select(null)}
            />
          )
        }
      />
    </>
  );
}

interface CoursePanelProps {
  courseId: string;
  /** The course from the loaded list, if it is there. */
  listed: Course | undefined;
  base: string;
  onClose(): void;
}

function CoursePanel({ courseId, listed, base, onClose }: CoursePanelProps) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.courses.get.queryOptions({ courseId }), enabled: !listed });
  const course = listed ?? query.data;
  return (
    <DetailsPanel title={course?.name ?? 'Course'} onClose={onClose}>
      {course ? (
        <div className="space-y-4">
          <ButtonLink href={`${base}/courses/${encodeURIComponent(courseId)}`}>Open course</ButtonLink>
          <CourseFacts course={course} />
        </div>
      ) : (
        <Pending query={query} className="h-64" />
      )}
    </DetailsPanel>
  );
}
