"""All tables

Revision 0001, the first.
"""

import sqlalchemy as sa
from alembic import op

revision = '0001'
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('projects',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('model_id', sa.String(), nullable=False),
    sa.Column('model_revision', sa.String(), nullable=True),
    sa.Column('prompt', sa.JSON(), nullable=False),
    sa.Column('sampling', sa.JSON(), nullable=False),
    sa.Column('guideline', sa.String(), nullable=False),
    sa.Column('budget', sa.Integer(), nullable=False),
    sa.Column('target', sa.Double(), nullable=True),
    sa.Column('label_kind', sa.Enum('soft', 'hard', name='labelkind', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.Column('archived_at', sa.DateTime(), nullable=True),
    sa.CheckConstraint("name <> ''", name=op.f('ck_projects_name_given')),
    sa.CheckConstraint('budget > 0', name=op.f('ck_projects_budget_positive')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_projects')),
    sa.UniqueConstraint('name', name=op.f('uq_projects_name'))
    )
    op.create_table('users',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('role', sa.Enum('admin', 'annotator', 'viewer', name='role', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('credential_hash', sa.String(), nullable=True),
    sa.Column('oidc_subject', sa.String(), nullable=True),
    sa.Column('disabled', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_users')),
    sa.UniqueConstraint('name', name=op.f('uq_users_name')),
    sa.UniqueConstraint('oidc_subject', name=op.f('uq_users_oidc_subject'))
    )
    op.create_table('checkpoints',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('project_id', sa.Integer(), nullable=False),
    sa.Column('stage', sa.Enum('elicitation', 'calibration', name='stage', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('parent_id', sa.Integer(), nullable=True),
    sa.Column('label_set_hash', sa.String(), nullable=False),
    sa.Column('n_labels', sa.Integer(), nullable=False),
    sa.Column('settings', sa.JSON(), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('path', sa.String(), nullable=False),
    sa.Column('metrics', sa.JSON(), nullable=False),
    sa.Column('state', sa.Enum('fresh', 'stale', name='checkpointstate', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.ForeignKeyConstraint(['parent_id'], ['checkpoints.id'], name=op.f('fk_checkpoints_parent_id_checkpoints')),
    sa.ForeignKeyConstraint(['project_id'], ['projects.id'], name=op.f('fk_checkpoints_project_id_projects'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_checkpoints')),
    sa.UniqueConstraint('project_id', 'path', name=op.f('uq_checkpoints_project_id_path'))
    )
    op.create_table('questions',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('project_id', sa.Integer(), nullable=False),
    sa.Column('external_id', sa.String(), nullable=False),
    sa.Column('text', sa.String(), nullable=False),
    sa.Column('context', sa.String(), nullable=False),
    sa.Column('reference_answers', sa.JSON(), nullable=False),
    sa.Column('reference_by_id', sa.Integer(), nullable=True),
    sa.Column('domain', sa.String(), nullable=False),
    sa.Column('details', sa.JSON(), nullable=False),
    sa.Column('split', sa.Enum('pool', 'audit', 'held-out', name='split', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('group', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.ForeignKeyConstraint(['project_id'], ['projects.id'], name=op.f('fk_questions_project_id_projects'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['reference_by_id'], ['users.id'], name=op.f('fk_questions_reference_by_id_users')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_questions')),
    sa.UniqueConstraint('project_id', 'external_id', name=op.f('uq_questions_project_id_external_id'))
    )
    with op.batch_alter_table('questions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_questions_project_id_questions_id'), ['project_id', 'id'], unique=False)
        batch_op.create_index(batch_op.f('ix_questions_project_id_questions_split'), ['project_id', 'split'], unique=False)

    op.create_table('generations',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('question_id', sa.Integer(), nullable=False),
    sa.Column('model_fingerprint', sa.String(), nullable=False),
    sa.Column('greedy_answer', sa.String(), nullable=False),
    sa.Column('greedy_class', sa.Enum('answer', 'refusal', 'empty', 'truncated', name='answerclass', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('greedy_tokens', sa.JSON(), nullable=False),
    sa.Column('greedy_logprobs', sa.JSON(), nullable=False),
    sa.Column('samples', sa.JSON(), nullable=False),
    sa.Column('k', sa.Integer(), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('consistency', sa.Double(), nullable=True),
    sa.Column('consistency_reason', sa.String(), nullable=False),
    sa.Column('unresolved', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.CheckConstraint('consistency is null or (consistency >= 0 and consistency <= 1)', name=op.f('ck_generations_consistency_share')),
    sa.CheckConstraint('k >= 0', name=op.f('ck_generations_k_not_negative')),
    sa.ForeignKeyConstraint(['question_id'], ['questions.id'], name=op.f('fk_generations_question_id_questions'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_generations')),
    sa.UniqueConstraint('question_id', 'model_fingerprint', name=op.f('uq_generations_question_id_model_fingerprint'))
    )
    with op.batch_alter_table('generations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_generations_model_fingerprint'), ['model_fingerprint'], unique=False)

    op.create_table('leases',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('question_id', sa.Integer(), nullable=False),
    sa.Column('annotator_id', sa.Integer(), nullable=False),
    sa.Column('token', sa.String(), nullable=False),
    sa.Column('expires_at', sa.DateTime(), nullable=False),
    sa.Column('heartbeat_at', sa.DateTime(), nullable=False),
    sa.ForeignKeyConstraint(['annotator_id'], ['users.id'], name=op.f('fk_leases_annotator_id_users'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['question_id'], ['questions.id'], name=op.f('fk_leases_question_id_questions'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_leases')),
    sa.UniqueConstraint('question_id', 'annotator_id', name=op.f('uq_leases_question_id_annotator_id')),
    sa.UniqueConstraint('token', name=op.f('uq_leases_token'))
    )
    with op.batch_alter_table('leases', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_leases_annotator_id'), ['annotator_id'], unique=False)

    op.create_table('measurements',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('project_id', sa.Integer(), nullable=False),
    sa.Column('checkpoint_id', sa.Integer(), nullable=True),
    sa.Column('estimator', sa.String(), nullable=False),
    sa.Column('n_labels', sa.Integer(), nullable=False),
    sa.Column('stream', sa.String(), nullable=False),
    sa.Column('metric', sa.String(), nullable=False),
    sa.Column('value', sa.Double(), nullable=True),
    sa.Column('low', sa.Double(), nullable=True),
    sa.Column('high', sa.Double(), nullable=True),
    sa.Column('n', sa.Integer(), nullable=False),
    sa.Column('left_out', sa.Integer(), nullable=False),
    sa.Column('method', sa.String(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.CheckConstraint('low is null or high is null or low <= high', name=op.f('ck_measurements_low_below_high')),
    sa.ForeignKeyConstraint(['checkpoint_id'], ['checkpoints.id'], name=op.f('fk_measurements_checkpoint_id_checkpoints'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['project_id'], ['projects.id'], name=op.f('fk_measurements_project_id_projects'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_measurements'))
    )
    with op.batch_alter_table('measurements', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_measurements_project_id'), ['project_id'], unique=False)

    op.create_table('rounds',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('project_id', sa.Integer(), nullable=False),
    sa.Column('policy', sa.String(), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('settings', sa.JSON(), nullable=False),
    sa.Column('checkpoint_id', sa.Integer(), nullable=True),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.ForeignKeyConstraint(['checkpoint_id'], ['checkpoints.id'], name=op.f('fk_rounds_checkpoint_id_checkpoints')),
    sa.ForeignKeyConstraint(['project_id'], ['projects.id'], name=op.f('fk_rounds_project_id_projects'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_rounds'))
    )
    with op.batch_alter_table('rounds', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_rounds_project_id'), ['project_id'], unique=False)

    op.create_table('answer_clusters',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('generation_id', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('representative', sa.String(), nullable=False),
    sa.Column('members', sa.JSON(), nullable=False),
    sa.Column('size', sa.Integer(), nullable=False),
    sa.Column('holds_greedy', sa.Boolean(), nullable=False),
    sa.Column('step', sa.Enum('exact', 'typed', 'alias', 'entity', 'nli', 'embedding', 'judge', 'person', 'none', name='decidingstep', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.CheckConstraint('size >= 0', name=op.f('ck_answer_clusters_size_not_negative')),
    sa.ForeignKeyConstraint(['generation_id'], ['generations.id'], name=op.f('fk_answer_clusters_generation_id_generations'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_answer_clusters')),
    sa.UniqueConstraint('generation_id', 'position', name=op.f('uq_answer_clusters_generation_id_position'))
    )
    op.create_table('round_items',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('round_id', sa.Integer(), nullable=False),
    sa.Column('question_id', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('stream', sa.Enum('train', 'audit', name='stream', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('probability', sa.Double(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.CheckConstraint('probability > 0 and probability <= 1', name=op.f('ck_round_items_probability_range')),
    sa.ForeignKeyConstraint(['question_id'], ['questions.id'], name=op.f('fk_round_items_question_id_questions'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['round_id'], ['rounds.id'], name=op.f('fk_round_items_round_id_rounds'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_round_items')),
    sa.UniqueConstraint('round_id', 'position', name=op.f('uq_round_items_round_id_position')),
    sa.UniqueConstraint('round_id', 'question_id', name=op.f('uq_round_items_round_id_question_id'))
    )
    with op.batch_alter_table('round_items', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_round_items_question_id'), ['question_id'], unique=False)

    op.create_table('verdicts',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('cluster_id', sa.Integer(), nullable=False),
    sa.Column('question_id', sa.Integer(), nullable=False),
    sa.Column('annotator_id', sa.Integer(), nullable=False),
    sa.Column('round_id', sa.Integer(), nullable=True),
    sa.Column('value', sa.Enum('correct', 'incorrect', 'unsure', 'skipped', 'withdrawn', name='verdictvalue', native_enum=False, create_constraint=True, length=32), nullable=False),
    sa.Column('answer_text', sa.String(), nullable=False),
    sa.Column('seconds_on_screen', sa.Double(), nullable=False),
    sa.Column('client_key', sa.String(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.CheckConstraint('seconds_on_screen >= 0', name=op.f('ck_verdicts_seconds_not_negative')),
    sa.CheckConstraint('version >= 1', name=op.f('ck_verdicts_version_from_one')),
    sa.ForeignKeyConstraint(['annotator_id'], ['users.id'], name=op.f('fk_verdicts_annotator_id_users')),
    sa.ForeignKeyConstraint(['cluster_id'], ['answer_clusters.id'], name=op.f('fk_verdicts_cluster_id_answer_clusters')),
    sa.ForeignKeyConstraint(['question_id'], ['questions.id'], name=op.f('fk_verdicts_question_id_questions'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['round_id'], ['rounds.id'], name=op.f('fk_verdicts_round_id_rounds')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_verdicts')),
    sa.UniqueConstraint('client_key', 'cluster_id', name=op.f('uq_verdicts_client_key_cluster_id')),
    sa.UniqueConstraint('cluster_id', 'annotator_id', 'version', name=op.f('uq_verdicts_cluster_id_annotator_id_version'))
    )
    with op.batch_alter_table('verdicts', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_verdicts_annotator_id'), ['annotator_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_verdicts_question_id'), ['question_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('verdicts', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_verdicts_question_id'))
        batch_op.drop_index(batch_op.f('ix_verdicts_annotator_id'))

    op.drop_table('verdicts')
    with op.batch_alter_table('round_items', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_round_items_question_id'))

    op.drop_table('round_items')
    op.drop_table('answer_clusters')
    with op.batch_alter_table('rounds', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_rounds_project_id'))

    op.drop_table('rounds')
    with op.batch_alter_table('measurements', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_measurements_project_id'))

    op.drop_table('measurements')
    with op.batch_alter_table('leases', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_leases_annotator_id'))

    op.drop_table('leases')
    with op.batch_alter_table('generations', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_generations_model_fingerprint'))

    op.drop_table('generations')
    with op.batch_alter_table('questions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_questions_project_id_questions_split'))
        batch_op.drop_index(batch_op.f('ix_questions_project_id_questions_id'))

    op.drop_table('questions')
    op.drop_table('checkpoints')
    op.drop_table('users')
    op.drop_table('projects')
